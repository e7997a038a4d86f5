# For validation: two nodes 250 m apart, 1 Mbit/s data and basic rate, RTS for all, IP packets of `packet` byte: 300 s.
# Peer of scenarios/bench/two-nodes-1mbps.toml.
source [file join [file dirname [info script]] common.tcl]

proc place {i} { return [list [expr 250.0 * $i] 500.0] }
set payload [expr [option packet 1024] - 40]
network 2 [list rate 1e6 basic 1e6 rts 0 sense 250 short 7 long 4 routing [option routing AODV]] place
set sinks [greedy_tcp 0 1 $payload 20 0.0]
run_and_report $sinks [option duration 300] [expr $payload / ($payload + 40.0)]
