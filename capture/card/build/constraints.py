"""Timing constraints of a card's device: one rule for each way in which bits pass from one clock to another.

A rule bounds a path that starts in another clock by a period of the clock it ends in: what passes there stands
still while only a synchronizer moves, which takes two edges of that clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard


class Crossing(NamedTuple):
    """Registers of a block at which a crossing begins (``out_of``) or ends (``into``).

    ports: outputs that a register is wired to, by which Yosys names it.
    """

    direction: str
    module: str
    registers: tuple[str, ...]
    why: str
    ports: tuple[str, ...] = ()


CROSSINGS = (
    Crossing("synchronized", "ff_cdc_sync", ("first_q",), "levels, toggles and Gray code, straight from flip-flops"),
    Crossing("into", "ff_cdc_read", ("word_q",), "taken while its address stands still", ("data",)),
    Crossing("out_of", "ff_cdc_read", ("word_q",), "stands still until the answer is taken", ("data",)),
    Crossing("out_of", "ff_cdc_handshake", ("data_q",), "stands still until the word is taken", ("m_data",)),
    Crossing("out_of", "ff_cdc_fifo", ("ram",), "written before the pointer that tells of it"),
    Crossing("out_of", "ff_cause_latch", ("causes",), "ff_cdc_held: stand still while the level is up"),
    Crossing("out_of", "ff_time_told", ("at", "parity"), "stand still behind the toggle that tells of them"),
    Crossing("into", "ff_card_pairs", ("number_q",), "another device's time line, changed with its toggle"),
    Crossing("out_of", "ff_trigger_table", ("table_q",), "filled before the trigger is on"),
    Crossing("out_of", "ff_card_trigger_port", ("wanted_q",), "written before the trigger is on", ("wanted",)),
    Crossing("out_of", "ff_card_core", ("post_q", "kinds_q"), "written before the arm", ("cfg_post", "cfg_kinds")),
    Crossing("into", "ff_trace_memory", ("rd_record",), "read while frozen; of block RAM there is no such path"),
)  # fmt: skip


def vivado_constraints(card: ElaboratedCard, blocks: Iterable[str]) -> str:
    """Return a Tcl file for Vivado.

    Args:
        blocks: names of the Verilog modules below the top; a rule of another one is left out.
    """
    name = module_name(card)
    use = f"# For Vivado: read_xdc -unmanaged {name}_vivado.tcl, behind the lines that make the clocks."
    return _file(card, blocks, _VIVADO, use, with_ports=False)


def sdc_constraints(card: ElaboratedCard, blocks: Iterable[str]) -> str:
    """Return an SDC file for Quartus, and for OpenSTA on a netlist of Yosys that was not flattened."""
    use = """# For Quartus (SDC_FILE), and for OpenSTA on a netlist of Yosys: not flattened, and 'rename -wire'
# before it is written. It belongs behind the lines that make the clocks."""
    return _file(card, blocks, _SDC, use, with_ports=True)


def _file(
    card: ElaboratedCard, blocks: Iterable[str], tool: str, use: str, *, with_ports: bool
) -> str:
    known = set(blocks)
    periods = " ".join(f"clk_{clock.name} {_period_ns(clock.said.hz)}" for clock in card.clocks)
    shortest = _period_ns(max(clock.said.hz for clock in card.clocks))
    rules = "".join(
        f"{rule.direction} {rule.module} {{{' '.join(rule.registers + rule.ports * with_ports)}}} ;# {rule.why}\n"
        for rule in CROSSINGS
        if rule.module in known
    )
    return f"""# Crossings between the clocks of card {card.name}, made by 'freezeframe card build'.
{use}
# A rule that finds no register says nothing: synthesis removes what is not used. set_clock_groups outdoes every rule.
namespace eval {module_name(card)} {{
variable top {module_name(card)}
variable periods {{{periods}}} ;# ns, as the card file has them
variable shortest {shortest}
{tool}
{rules}}}
"""


def _period_ns(hz: int) -> str:
    """Return a period in ns, rounded down to a ps, so that a rule is never looser than the clock."""
    ps = 10**12 // hz
    return f"{ps // 1000}.{ps % 1000:03d}"


# In Vivado the registers' own clock is left out, for -datapath_only ends the hold check too.
# In an SDC file a path of one clock keeps its meaning: at most its period, at least 0.
_VIVADO = r"""
proc of_module {module} {
    get_cells -quiet -hierarchical -filter "ORIG_REF_NAME == $module || REF_NAME == $module"
}
proc devices {} {
    variable top
    set found [of_module $top]
    expr {[llength $found] ? $found : [list ""]} ;# none: the device itself is the design
}
proc registers {instance names} {
    set found {}
    foreach cell [get_cells -quiet -hierarchical -filter "PARENT == $instance"] {
        set rest [string range $cell [string length "$instance/"] end]
        foreach name $names { if {[regexp "(^|\\.)${name}_reg(\\W|_|$)" $rest]} { lappend found $cell } }
    }
    return $found
}
proc each {module names do} {
    foreach device [devices] {
        foreach instance [of_module $module] {
            if {$device ne "" && [string first "$device/" $instance] != 0} continue
            set found [registers $instance $names]
            if {[llength $found] == 0} continue
            set found [get_cells $found]
            set own [get_clocks -quiet -of_objects $found]
            set others {}
            foreach one [get_clocks] { if {$one ni $own} { lappend others $one } }
            if {[llength $others]} { $do $device $found $own $others }
        }
    }
}
proc clocks_at {device port} {
    get_clocks -quiet -of_objects [expr {$device eq "" ? [get_ports -quiet $port] : [get_pins -quiet $device/$port]}]
}
proc do_synchronized {device found own others} {
    variable shortest
    set_property ASYNC_REG TRUE $found
    set_max_delay -datapath_only -from [get_clocks $others] -to $found $shortest
}
proc do_into {device found own others} {
    variable periods
    dict for {port ns} $periods { if {[lindex $own 0] in [clocks_at $device $port]} { set limit $ns } }
    set_max_delay -datapath_only -from [get_clocks $others] -to $found $limit
}
proc do_out_of {device found own others} {
    variable periods
    dict for {port ns} $periods {
        foreach one [clocks_at $device $port] {
            if {$one in $others} { set_max_delay -datapath_only -from $found -to [get_clocks $one] $ns }
        }
    }
}
proc synchronized {module names} { each $module $names do_synchronized }
proc into {module names} { each $module $names do_into }
proc out_of {module names} { each $module $names do_out_of }
"""

_SDC = r"""
if {[llength [info commands ::get_entity_instances]]} { # Quartus
    proc instances {module} { get_entity_instances -nowarn $module }
    proc below {instance} {
        set found {}
        foreach_in_collection one [get_registers -nowarn "[string map {\[ \\\[ \] \\\]} $instance]|*"] {
            set name [get_register_info -name $one]
            lappend found [string range $name [string length "$instance|"] end]
            lappend found [get_registers [string map {\[ \\\[ \] \\\]} $name]]
        }
        return $found
    }
    proc all_clocks_and_periods {} {
        set found {}
        foreach_in_collection one [all_clocks] {
            lappend found [get_clocks [get_clock_info -name $one]] [get_clock_info -period $one]
        }
        return $found
    }
} else { # OpenSTA
    variable cells {} ;# by the instance they stand in: name in it, cell
    variable modules {}
    foreach cell [get_cells -hierarchical *] {
        set name [get_full_name $cell]
        set at [string last / $name]
        dict lappend cells [string range $name 0 $at-1] [string range $name $at+1 end] $cell
        lappend modules $name [get_property $cell ref_name]
    }
    proc instances {module} {
        variable modules
        set found {}
        foreach {name of} $modules { if {[regexp "(^|\\\\)$module\(\\\\|\$)" $of]} { lappend found $name } }
        return $found
    }
    proc below {instance} {
        variable cells
        expr {[dict exists $cells $instance] ? [dict get $cells $instance] : {}}
    }
    proc all_clocks_and_periods {} {
        set found {}
        foreach one [all_clocks] { lappend found $one [get_property $one period] }
        return $found
    }
}
proc each {module names do} {
    foreach instance [instances $module] {
        set found {}
        foreach {rest register} [below $instance] {
            foreach name $names {
                if {[regexp "^(\\w+\\\[\\d+\\\]\\.)*${name}(\\W|_|\$)" $rest]} { lappend found $register }
            }
        }
        foreach register $found { $do $instance $register }
    }
}
# The clock that answers a read has its number in the name of the block around it; all else ends in the bus clock.
proc period {instance} {
    variable periods
    set number 0
    regexp {\[(\d+)\]\.g_far\Wi_read$} $instance whole number
    lindex $periods [expr {2 * $number + 1}]
}
proc do_synchronized {instance register} {
    variable shortest
    set_max_delay -from [all_clocks] -to $register $shortest
    set_min_delay -from [all_clocks] -to $register 0
}
proc do_into {instance register} {
    set_max_delay -from [all_clocks] -to $register [period $instance]
    set_min_delay -from [all_clocks] -to $register 0
}
proc do_out_of {instance register} {
    foreach {one ns} [all_clocks_and_periods] {
        set_max_delay -from $register -to $one $ns
        set_min_delay -from $register -to $one 0
    }
}
proc synchronized {module names} { each $module $names do_synchronized }
proc into {module names} { each $module $names do_into }
proc out_of {module names} { each $module $names do_out_of }
"""
