# Pairs of nodes at given places, each with one greedy TCP connection or saturated UDP from its first node to its second.
# Peer of what benches/fields.py writes.
#   places: x and y of each node in turn [m], with commas; nodes 0 and 1 are the first pair
#   transport: tcp or udp; rate, basic [bit/s]; rts, sense, routing: as for `network`; duration [s]; seed
#   flows: pairs with traffic; the others are stations on the way
source [file join [file dirname [info script]] common.tcl]

set places [split [option places 0,0,100,0] ,]
proc place {i} {
    global places
    return [lrange $places [expr 2 * $i] [expr 2 * $i + 1]]
}
set count [expr [llength $places] / 2]
set air [list rate [option rate 1e6] basic [option basic 1e6] rts [option rts 0] sense [option sense 250]]
network $count [concat $air [list short 20 long 20 routing [option routing DumbAgent]]] place
set sinks {}
for {set i 0} {$i < [option flows 1]} {incr i} {
    set ends [list [expr 2 * $i] [expr 2 * $i + 1]]
    if {[option transport tcp] == "tcp"} {
        lappend sinks [greedy_tcp {*}$ends 1024 20 [expr 0.1 * $i]]
    } else {
        lappend sinks [saturated_udp {*}$ends 1024 [option rate 1e6] [expr 0.1 * $i]]
    }
}
set headers [expr {[option transport tcp] == "tcp" ? 40.0 : 28.0}]
run_and_report $sinks [option duration 40] [expr 1024 / (1024 + $headers)]
