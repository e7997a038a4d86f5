# (c) Fifty stations (or stations=N) on a circle of 20 m send saturated UDP to one receiver in its centre at 11 Mbit/s:
# 60 s, no RTS.
# Peer of scenarios/bench/saturated-50.toml.
source [file join [file dirname [info script]] common.tcl]

set stations [option stations 50]
proc place {i} {
    global stations
    if {$i == $stations} { return {500.0 500.0} }
    set angle [expr 2 * 3.14159265358979 * $i / $stations]
    return [list [expr 500.0 + 20.0 * cos($angle)] [expr 500.0 + 20.0 * sin($angle)]]
}
network [expr $stations + 1] [list rate 11e6 basic 1e6 rts 3000 sense 550 short 7 long 4 routing [option routing DumbAgent]] place
set sinks {}
for {set i 0} {$i < $stations} {incr i} {
    # 150 kbit/s each of 50 is 7.5 Mbit/s together, 1.75 times what the channel carries; starts spread over 50 ms.
    lappend sinks [saturated_udp $i $stations 1472 [option rate [expr 7500 / $stations]k] [expr 0.05 * $i / $stations]]
}
run_and_report $sinks [option duration 60] [expr 1472.0 / 1500]
