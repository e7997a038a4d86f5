# (g) Six greedy TCP connections between nodes of a grid of 10 x 10, 250 m apart, 1 Mbit/s, RTS for all, AODV: 100 s.
# Carrier sense reaches as far as reception. Peer of scenarios/bench/grid-100.toml.
source [file join [file dirname [info script]] common.tcl]

# By rows from the west and south, the first is 0.
proc place {i} { return [list [expr 250.0 * ($i % 10)] [expr 250.0 * ($i / 10)]] }
network 100 [list rate 1e6 basic 1e6 rts 0 sense 250 short 20 long 20 routing AODV] place
set sinks {}
foreach {from to} {4 39 21 15 60 82 97 55 48 88 76 13} {
    lappend sinks [greedy_tcp $from $to 1024 20 [expr 0.1 * [llength $sinks]]]
}
run_and_report $sinks [option duration 100] [expr 1024 / (1024 + 40.0)]
