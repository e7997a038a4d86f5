# One object of `packets` segments by NewReno from end to end of a chain of `nodes`, 250 m apart, 1 Mbit/s, RTS for all,
# routes by AODV: seconds from the start until its last byte is there. Peer of scenarios/kuang2004/web.toml; `benches/objects.py`
# runs both. ns-2 finds no route before the object starts.
#   tcp: full (with a handshake, as in airbraid) or oneway (ns-2's older agent, without); initial: first window
#   trace: a scratch file
source [file join [file dirname [info script]] common.tcl]

set count [option nodes 10]
set limits [option limits 20]
set packets [option packets 2]
set payload [option payload 472]
set start [option start 0.3]
set scratch [option trace /tmp/object.tr]
proc place {i} { return [list [expr 250.0 * $i] 500.0] }
network $count [list rate 1e6 basic 1e6 rts 0 sense 250 short $limits long $limits routing AODV trace $scratch] place

if {[option tcp full] == "full"} {
    # NewReno by its own name; an ACK for every second segment, after 100 ms at most.
    set tcp [new Agent/TCP/FullTcp/Newreno]
    set sink [new Agent/TCP/FullTcp/Newreno]
    foreach end [list $tcp $sink] {
        $end set segsize_ $payload
        $end set segsperack_ 2
        $end set interval_ 0.1
    }
    $sink listen
} else {
    set tcp [new Agent/TCP/Newreno]
    $tcp set packetSize_ $payload
    $tcp set tcpip_base_hdr_size_ 40
    set sink [new Agent/TCPSink/DelAck]
    $sink set interval_ 100ms
}
$tcp set window_ 20
$tcp set windowInit_ [option initial 1]
$ns attach-agent $node(0) $tcp
$ns attach-agent $node([expr $count - 1]) $sink
$ns connect $tcp $sink
if {[option tcp full] == "full"} {
    $ns at $start "$tcp send [expr $packets * $payload]"
} else {
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp produce $packets"
}

# Time of the last data segment that the far end received for the first time.
proc tell {} {
    global ns trace scratch count packets payload start
    $ns flush-trace
    close $trace
    array set seen {}
    set last 0
    set input [open $scratch]
    while {[gets $input line] >= 0} {
        set word [split [regsub -all { +} $line { }]]
        if {[lindex $word 0] != "r" || [lindex $word 2] != "_[expr $count - 1]_" || [lindex $word 3] != "AGT"} continue
        if {[lindex $word 7] < $payload} continue
        regexp {\] \[(\d+) \d+\]} $line all number
        if {![info exists seen($number)]} {
            set seen($number) 1
            set last [lindex $word 1]
        }
    }
    puts [format "segments %d seconds %.6f" [array size seen] [expr $last - $start]]
    exit 0
}
ns-random [option seed 1]
$ns at [option until 60] tell
$ns run
