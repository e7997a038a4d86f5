# What the ns-2 scenarios of this folder share: an 802.11 node set-up as in scenarios/bench, and a report at the end.
# For ns-2.35 (Debian package ns2). Each scenario sets the entries of `set_up`, then calls `network`.

# Entry of the command line `name=value`, or the default.
proc option {name default} {
    global argv
    foreach word $argv {
        if {[string match "$name=*" $word]} {
            return [string range $word [expr [string length $name] + 1] end]
        }
    }
    return $default
}

# A simulator with `count` nodes that stand still.
#   rate, basic: data and control rate; rts: RTS threshold [byte]; sense: carrier-sense range, 250 or 550 [m]
#   short, long: retry limits; routing: NOAH is not in ns-2, so DSDV, DSR, AODV or DumbAgent (one hop, no routing)
#   trace: a file for what agents send and receive; without it nothing is traced
proc network {count set_up place} {
    global ns topo god node trace
    array set o $set_up
    Mac/802_11 set dataRate_ $o(rate)
    Mac/802_11 set basicRate_ $o(basic)
    Mac/802_11 set RTSThreshold_ $o(rts)
    Mac/802_11 set ShortRetryLimit_ $o(short)
    Mac/802_11 set LongRetryLimit_ $o(long)
    Mac/802_11 set CWMin_ 31
    Mac/802_11 set CWMax_ 1023
    Mac/802_11 set SlotTime_ 0.000020
    Mac/802_11 set SIFS_ 0.000010
    # Long preamble: 144 bit and a PLCP header of 48 bit, both at 1 Mbit/s.
    Mac/802_11 set PreambleLength_ 144
    Mac/802_11 set PLCPHeaderLength_ 48
    Mac/802_11 set PLCPDataRate_ 1.0e6
    Phy/WirelessPhy set Pt_ 0.28183815
    Phy/WirelessPhy set freq_ 914e+6
    Phy/WirelessPhy set CPThresh_ 10.0
    # Two-ray ground with antennas at 1.5 m: the powers at 250 m and 550 m.
    Phy/WirelessPhy set RXThresh_ 3.652e-10
    Phy/WirelessPhy set CSThresh_ [expr {$o(sense) == 250 ? 3.652e-10 : 1.559e-11}]

    set ns [new Simulator]
    set topo [new Topography]
    $topo load_flatgrid 4000 4000
    set god [create-god $count]
    # ns-2 asks for a file even where nothing is traced.
    set traced [info exists o(trace)]
    set trace [open [expr {$traced ? $o(trace) : "/dev/null"}] w]
    $ns trace-all $trace
    $ns node-config -adhocRouting $o(routing) -llType LL -macType Mac/802_11 \
        -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
        -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] \
        -topoInstance $topo -agentTrace [expr {$traced ? "ON" : "OFF"}] -routerTrace OFF -macTrace OFF -movementTrace OFF
    for {set i 0} {$i < $count} {incr i} {
        set node($i) [$ns node]
        $node($i) random-motion 0
        set where [$place $i]
        $node($i) set X_ [lindex $where 0]
        $node($i) set Y_ [lindex $where 1]
        $node($i) set Z_ 0.0
    }
}

# A greedy NewReno connection with delayed acknowledgements (every second segment, at most 100 ms); the sink.
# `segment` is the payload; ns-2's one-way TCP adds 40 byte of headers by itself.
proc greedy_tcp {from to segment window start} {
    global ns node begins
    set tcp [new Agent/TCP/Newreno]
    $tcp set packetSize_ $segment
    $tcp set window_ $window
    $tcp set tcpip_base_hdr_size_ 40
    set sink [new Agent/TCPSink/DelAck]
    $sink set interval_ 100ms
    $ns attach-agent $node($from) $tcp
    $ns attach-agent $node($to) $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    set begins($sink) $start
    return $sink
}

# Datagrams of `payload` byte at `rate`, more than the channel takes; the sink. ns-2's UDP counts no headers, so the
# 28 byte of UDP and IP are part of the packet size.
proc saturated_udp {from to payload rate start} {
    global ns node begins
    set udp [new Agent/UDP]
    $udp set packetSize_ [expr $payload + 28]
    set sink [new Agent/LossMonitor]
    $ns attach-agent $node($from) $udp
    $ns attach-agent $node($to) $sink
    $ns connect $udp $sink
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ [expr $payload + 28]
    $cbr set rate_ $rate
    $cbr set random_ 0
    $cbr attach-agent $udp
    $ns at $start "$cbr start"
    set begins($sink) $start
    return $sink
}

# Runs for `duration` seconds and prints one line: what the sinks got, as IP packets and as payload, each over the time
# of its flow. A TCP sink counts bytes as they come in order, so once, as goodput does in airbraid.
#   share: payload over IP packet.
proc run_and_report {sinks duration share} {
    global ns
    ns-random [option seed 1]
    $ns at $duration "report [list $sinks] $duration $share; exit 0"
    $ns run
}
proc report {sinks duration share} {
    global begins
    set ip 0.0
    foreach sink $sinks {
        set ip [expr $ip + 8.0 * [$sink set bytes_] / ($duration - $begins($sink))]
    }
    puts [format "ip_throughput_bps %.0f goodput_bps %.0f simulated_s %s" $ip [expr $ip * $share] $duration]
}
