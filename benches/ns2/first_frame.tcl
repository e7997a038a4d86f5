# Does a frame above carrier sense and below reception hold a receiver? Four nodes: r at 0, s at 250 m sends to r; at
# -500 m i, whose energy r senses and cannot decode, sends to j. Neither of s and i senses the other; at r the frame of
# s is stronger by 12 dB (capture: 10 dB). One frame each of 1500 byte at 11 Mbit/s; the later one begins 0.6 ms behind.
#   first: i or s begins. Prints what r and j got at the first attempt. Peer of tests/tests/receiver.rs.
#   trace: a scratch file
source [file join [file dirname [info script]] common.tcl]

set scratch [option trace /tmp/first_frame.tr]
set body [info body network]
regsub {macTrace OFF} $body {macTrace ON} body
proc network {count set_up place} $body
proc place {i} { return [list [expr 1500.0 + [lindex {0 250 -500 -700} $i]] 500.0] }
set air [list rate 11e6 basic 1e6 rts 3000 sense 550 short 7 long 7]
network 4 [concat $air [list routing DumbAgent trace $scratch]] place

# A packet at 0.5 s or later lets ARP find the neighbour; the next is the one that counts.
proc packets {from to times} {
    global ns node
    set udp [new Agent/UDP]
    $udp set packetSize_ 1500
    set sink [new Agent/Null]
    $ns attach-agent $node($from) $udp
    $ns attach-agent $node($to) $sink
    $ns connect $udp $sink
    foreach at $times { $ns at $at "$udp send 1500" }
}
set i_first [expr {[option first i] == "i"}]
packets 1 0 [list 0.5 [expr {$i_first ? 1.0006 : 1.0}]]
packets 2 3 [list 0.7 [expr {$i_first ? 1.0 : 1.0006}]]

proc tell {} {
    global ns trace scratch
    $ns flush-trace
    close $trace
    set fate(0) lost
    set fate(3) lost
    set input [open $scratch]
    while {[gets $input line] >= 0} {
        # The first attempts are over 3 ms after the first began, retransmissions are not.
        if {[regexp {^r (\S+) _(\d)_ MAC .* 1500 } $line all at who] && $at > 1 && $at < 1.0028} { set fate($who) received }
    }
    puts "r $fate(0) j $fate(3)"
    exit 0
}
ns-random [option seed 1]
$ns at 2.0 tell
$ns run
