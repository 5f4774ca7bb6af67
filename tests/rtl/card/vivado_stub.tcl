# Vivado's object commands over a netlist in text, and its timing commands as lines. An option that is not known here is an error.
# argv: the netlist, the constraints. Lines of the netlist: cell NAME MODULE PARENT | register NAME PARENT CLOCK | pin NAME CLOCK | clock NAME
set cells {}
set clocks {}
set pins {}
set file [open [lindex $argv 0]]
while {[gets $file line] >= 0} {
    lassign $line what name a b
    switch $what {
        cell { dict set cells $name [list $a $b ""] }
        register { dict set cells $name [list "" $a $b] }
        pin { dict set pins $name $a }
        clock { lappend clocks $name }
        default { error "netlist: $line" }
    }
}
proc options {words known} {
    set taken {}
    set rest {}
    for {set n 0} {$n < [llength $words]} {incr n} {
        set word [lindex $words $n]
        if {[string index $word 0] ne "-"} { lappend rest $word; continue }
        if {![dict exists $known $word]} { error "no such option: $word" }
        dict set taken $word [expr {[dict get $known $word] ? [lindex $words [incr n]] : 1}]
    }
    list $taken $rest
}
proc get_cells {args} {
    global cells
    lassign [options $args {-quiet 0 -hierarchical 0 -filter 1}] taken rest
    if {![dict exists $taken -filter]} {
        foreach name [lindex $rest 0] { if {![dict exists $cells $name]} { error "no cell $name" } }
        return [lindex $rest 0]
    }
    set found {}
    set asked [dict get $taken -filter]
    dict for {name cell} $cells {
        lassign $cell ORIG_REF_NAME PARENT
        set REF_NAME ${ORIG_REF_NAME}__parameterized0
        foreach term [split [string map {" || " "\n"} $asked] "\n"] {
            if {![regexp {^(\w+) == (.+)$} $term whole property value]} { error "filter: $asked" }
            if {[set $property] eq $value} { lappend found $name; break }
        }
    }
    return $found
}
proc get_clocks {args} {
    global cells clocks pins
    lassign [options $args {-quiet 0 -of_objects 1}] taken rest
    if {![dict exists $taken -of_objects]} { return [expr {[llength $rest] ? [lindex $rest 0] : $clocks}] }
    set found {}
    foreach name [dict get $taken -of_objects] {
        if {[dict exists $pins $name]} { lappend found [dict get $pins $name] } else { lappend found [lindex [dict get $cells $name] 2] }
    }
    return [lsort -unique $found]
}
proc get_pins {args} { global pins; set name [lindex [lindex [options $args {-quiet 0}] 1] 0]; expr {[dict exists $pins $name] ? $name : ""} }
proc get_ports {args} { get_pins {*}$args }
proc set_property {name value objects} { foreach one $objects { puts "property\t$name $value\t$one" } }
proc set_max_delay {args} {
    lassign [options $args {-datapath_only 0 -from 1 -to 1}] taken rest
    foreach side {-from -to} { if {![llength [dict get $taken $side]]} { error "nothing behind $side" } }
    dict get $taken -datapath_only ;# there has to be one
    # Level 1 is the file's namespace, 2 the rule.
    puts [join [list limit [lrange [info level 2] 0 1] [join [dict get $taken -from]] [join [dict get $taken -to]] $rest] "\t"]
}
source [lindex $argv 1]
