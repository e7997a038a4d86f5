# Four nodes in a row, 250 m apart, two greedy TCP connections eastward, the first to the second and the third to the
# fourth: 1 Mbit/s, RTS for all, 300 s. IP throughput of each. Peer of scenarios/validation/eastbound.toml.
source [file join [file dirname [info script]] common.tcl]

proc place {i} { return [list [expr 250.0 * $i] 500.0] }
network 4 [list rate 1e6 basic 1e6 rts 0 sense 250 short 7 long 4 routing DumbAgent] place
set first [greedy_tcp 0 1 984 20 0.0]
set second [greedy_tcp 2 3 984 20 0.0]

proc tell {} {
    global first second
    puts [format "first_bps %.0f second_bps %.0f" [expr [$first set bytes_] * 8 / 300.0] [expr [$second set bytes_] * 8 / 300.0]]
    exit 0
}
ns-random [option seed 1]
$ns at 300 tell
$ns run
