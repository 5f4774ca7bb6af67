# Quartus' object commands over five registers and two clocks: what comes back from them are handles, not names.
set names {dev|i_core|i_freeze|g_far[0].i_beat|i_sync|first_q dev|i_core|i_freeze|g_far[0].i_beat|i_sync|second_q
    dev|i_core|i_status|g_clock[1].g_far.i_read|word_q[3] dev|i_core|kinds_q[5] dev|i_core|mask_q[1]}
proc get_entity_instances {flag module} {
    if {$flag ne "-nowarn"} { error $flag }
    switch $module {
        ff_cdc_sync { return {dev|i_core|i_freeze|g_far[0].i_beat|i_sync} }
        ff_cdc_read { return {dev|i_core|i_status|g_clock[1].g_far.i_read} }
        ff_card_core { return dev|i_core }
    }
}
proc get_registers {args} {
    set found {}
    foreach name $::names { if {[string match [lindex $args end] $name]} { lappend found "handle $name" } }
    if {![llength $found]} { error "no register: $args" }
    return $found
}
proc foreach_in_collection {name collection do} { uplevel [list foreach $name $collection $do] }
proc get_register_info {flag handle} { lindex $handle 1 }
proc all_clocks {} { list {handle bus} {handle rx} }
proc get_clock_info {flag handle} { lindex [dict get {-name {bus rx} -period {10.0 8.0}} $flag] [expr {[lindex $handle 1] eq "rx"}] }
proc get_clocks {name} { list "handle $name" }
proc set_max_delay {from starts to ends ns} { puts "max [string map {"handle " ""} [join $starts]] $to [string map {"handle " ""} [join $ends]] $ns" }
proc set_min_delay {args} {}
