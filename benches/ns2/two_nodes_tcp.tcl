# (a) One greedy TCP connection over 100 m at 11 Mbit/s: 250 s, no RTS, long preamble, MSS 1460.
# Peer of scenarios/bench/two-nodes-tcp.toml.
source [file join [file dirname [info script]] common.tcl]

proc place {i} { return [list [expr 100.0 * $i] 500.0] }
network 2 [list rate 11e6 basic [option basic 1e6] rts 3000 sense 550 short 7 long 4 routing [option routing DumbAgent]] place
set sinks [greedy_tcp 0 1 1460 [option window 44] 0.0]
run_and_report $sinks [option duration 250] [expr 1460.0 / 1500]
