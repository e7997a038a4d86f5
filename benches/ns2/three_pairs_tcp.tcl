# (b) Three greedy TCP connections, each between two nodes of its own, out of range of the others: 250 s.
# ns-2 has no trunk; this is the comparable work for scenarios/bench/trunk-of-three.toml: three saturated channels.
source [file join [file dirname [info script]] common.tcl]

# Pairs stand 1800 m apart: nothing of one is heard by another (carrier sense 550 m).
proc place {i} { return [list [expr 100.0 * ($i % 2) + 1800.0 * ($i / 2)] 500.0] }
network 6 [list rate 11e6 basic 1e6 rts 3000 sense 550 short 7 long 4 routing [option routing DumbAgent]] place
set sinks {}
foreach pair {0 1 2} {
    lappend sinks [greedy_tcp [expr 2 * $pair] [expr 2 * $pair + 1] 1460 44 0.0]
}
run_and_report $sinks [option duration 250] [expr 1460.0 / 1500]
