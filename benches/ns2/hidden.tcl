# Two saturated UDP flows of 1470 byte between four nodes 200 m apart, the first to the second and the third to the
# fourth: reception and carrier sense end at 250 m, so the first and the third do not hear each other. 60 s, 11 Mbit/s.
# Goodput of each flow. Peer of the hidden terminal in docs/validation.md.
#   rts: RTS threshold [byte]; offered: rate of each flow [bit/s]
source [file join [file dirname [info script]] common.tcl]

proc place {i} { return [list [expr 200.0 * $i] 500.0] }
set air [list rate 11e6 basic 1e6 rts [option rts 3000] sense 250 short 7 long 4 routing DumbAgent]
network 4 $air place
set first [saturated_udp 0 1 1470 [option offered 8e6] 0.0]
set second [saturated_udp 2 3 1470 [option offered 8e6] 0.001]

proc tell {} {
    global first second
    set share [expr 8 * 1470.0 / 1498 / 60]
    puts [format "first_bps %.0f second_bps %.0f" [expr [$first set bytes_] * $share] [expr [$second set bytes_] * $share]]
    exit 0
}
ns-random [option seed 1]
$ns at 60 tell
$ns run
