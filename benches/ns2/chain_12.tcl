# (d) One greedy TCP connection end to end over a chain of 12 nodes, 250 m apart, 1 Mbit/s, RTS for all: 300 s.
# Carrier sense reaches as far as reception. Peer of scenarios/bench/chain-12.toml, whose routes are given; ns-2 has no
# static wireless routing, so it finds them with AODV.
#   limits: both retry limits. 20 as in scenarios/bench, so that hardly anything is dropped and routes stand.
#   rate, rts, sense: others than these, for benches/chains.py
source [file join [file dirname [info script]] common.tcl]

set count [option nodes 12]
set limits [option limits 20]
proc place {i} { return [list [expr 250.0 * $i] 500.0] }
set short [expr {$limits == "default" ? 7 : $limits}]
set long [expr {$limits == "default" ? 4 : $limits}]
set air [list rate [option rate 1e6] basic 1e6 rts [option rts 0] sense [option sense 250]]
network $count [concat $air [list short $short long $long routing AODV]] place
set sinks [greedy_tcp 0 [expr $count - 1] [option payload 1024] 20 0.0]
run_and_report $sinks [option duration 300] [expr [option payload 1024] / ([option payload 1024] + 40.0)]
