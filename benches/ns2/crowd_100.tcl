# (h) Twelve greedy TCP connections among 100 nodes anywhere in 250 m x 250 m, 1 Mbit/s, RTS for all, AODV: 30 s.
# Carrier sense reaches as far as reception, so nearly all hear all. Peer of scenarios/bench/crowd-100.toml.
source [file join [file dirname [info script]] common.tcl]

set places [new RNG]
$places seed [option seed 1]
proc place {i} {
    global places
    return [list [$places uniform 0.0 250.0] [$places uniform 0.0 250.0]]
}
network 100 [list rate 1e6 basic 1e6 rts 0 sense 250 short 20 long 20 routing AODV] place
set sinks {}
for {set i 0} {$i < 12} {incr i} {
    lappend sinks [greedy_tcp [expr 2 * $i] [expr 2 * $i + 1] 1024 20 [expr 0.1 * $i]]
}
run_and_report $sinks [option duration 30] [expr 1024 / (1024 + 40.0)]
