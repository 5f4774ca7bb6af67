"""The SDC file of a built device, read by OpenSTA over a netlist of gates, and by Quartus' commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.processes import run_program
from tests.rtl.card.test_card_device import CARDS, written
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import tool

TOP = "soc_freezeframe"
_SCALARS = " ".join(
    f'{kind} (scalar) {{ values ("0.05"); }}'
    for kind in ("cell_rise", "cell_fall", "rise_transition", "fall_transition")
)
_THRESHOLDS = " ".join(
    f"{side}_threshold_pct_{edge} : {pct};"
    for side, pct in (("input", 50), ("output", 50), ("slew_lower", 20), ("slew_upper", 80))
    for edge in ("rise", "fall")
)


def gate(name: str, pins: str, function: str) -> str:
    """Return a gate of Yosys as a cell of a Liberty library, 50 ps a gate."""
    inputs = " ".join(f"pin ({pin}) {{ direction : input; capacitance : 0.001; }}" for pin in pins)
    arcs = " ".join(f'timing () {{ related_pin : "{pin}"; {_SCALARS} }}' for pin in pins)
    return f'cell ("{name}") {{ {inputs} pin (Y) {{ direction : output; function : "{function}"; {arcs} }} }}'


def library() -> str:
    """Return the Liberty library of the gates that Yosys maps to."""
    check = " ".join(
        f'timing () {{ related_pin : "C"; timing_type : {kind}_rising; rise_constraint (scalar) {{ values ("0.05"); }} '
        'fall_constraint (scalar) { values ("0.05"); } }' for kind in ("setup", "hold")
    )  # fmt: skip
    return "\n".join([
        'library (gates) { delay_model : table_lookup; time_unit : "1ns"; voltage_unit : "1V"; current_unit : "1mA";',
        f'pulling_resistance_unit : "1kohm"; capacitive_load_unit (1, pf); leakage_power_unit : "1nW"; {_THRESHOLDS}',
        gate("$_NOT_", "A", "!A"), gate("$_BUF_", "A", "A"), gate("$_AND_", "AB", "A*B"), gate("$_OR_", "AB", "A+B"),
        gate("$_XOR_", "AB", "A^B"), gate("$_MUX_", "ABS", "(S*B)+(!S*A)"),
        'cell ("$_DFF_P_") { ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; }',
        "pin (C) { direction : input; clock : true; capacitance : 0.001; }",
        f"pin (D) {{ direction : input; capacitance : 0.001; {check} }}",
        f'pin (Q) {{ direction : output; function : "IQ"; timing () {{ related_pin : "C"; timing_type : rising_edge; '
        f"{_SCALARS} }} }} }}",
        "}", "",
    ])  # fmt: skip


SCRIPT = (
    f"hierarchy -check -top {TOP}; proc; opt -fast; memory -nomap; delete t:$mem_v2; opt -fast; techmap; opt -fast; "
    "simplemap; opt -fast; dffunmap; opt_clean -purge; rename -wire; splitnets; opt_clean -purge; insbuf; "
    "write_verilog -noattr -noexpr gates.v"
)


def map_to_gates(folder: Path, sources: list[str]) -> None:
    """Map a device to gates, its memories left out."""
    script = f"read_verilog -defer {' '.join(sources)}; {SCRIPT}"
    done = run_program([tool("yosys"), "-q", "-p", script], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "gates.lib").write_text(library())


def paths_of_opensta(folder: Path, constraints: str) -> list[tuple[str, str, str]]:
    """Return (clocks, limit in ns or "edge", endpoint) of the worst path from another clock to each endpoint."""
    (folder / "run.tcl").write_text(f"""
read_liberty gates.lib
read_verilog gates.v
link_design {TOP}
create_clock -name bus_clock -period 10 [get_ports clk_sys]
create_clock -name rx_clock -period 8 [get_ports clk_eth_rx]
{constraints}
foreach {{a b}} {{bus_clock rx_clock rx_clock bus_clock}} {{
    puts "FROM $a $b"
    report_checks -from [get_clocks $a] -to [get_clocks $b] -path_delay max -format full_clock -group_count 5000
}}
""")
    done = run_program([tool("sta"), "-no_splash", "-exit", "run.tcl"], cwd=folder)
    assert re.findall(r"^(?:Warning|Error).*", done.stdout + done.stderr, re.M) == []
    found = []
    for part in done.stdout.split("FROM ")[1:]:
        clocks = part.splitlines()[0]
        for path in part.split("Startpoint: ")[1:]:
            limit = re.search(r"([\d.]+)\s+max_delay", path)
            endpoint = re.search(r"Endpoint: (\S+)", path)
            assert endpoint
            found.append((clocks, limit[1] if limit else "edge", endpoint[1]))
    return found


def test_opensta_finds_a_limit_of_the_file_on_every_path_between_the_clocks(tmp_path: Path) -> None:
    (tmp_path / "soc.toml").write_text(
        re.sub(r"depth = \d+", "depth = 16", CARDS["soc"].read_text())
    )
    written(tmp_path / "soc.toml", tmp_path)
    sources = (tmp_path / f"{TOP}.f").read_text().split()

    def summary() -> dict[str, Any]:
        map_to_gates(tmp_path, sources)
        before = paths_of_opensta(tmp_path, "")
        after = paths_of_opensta(tmp_path, f"source {TOP}.sdc")
        return {
            "before": sorted({limit for _, limit, _ in before}),
            "other ends": sorted({end for *_, end in after} ^ {end for *_, end in before}),
            "paths": len(after),
            "after": sorted({(clocks, limit, "first_q" in end) for clocks, limit, end in after}),
        }

    texts = [(tmp_path / name).read_text() for name in (*sources, f"{TOP}.sdc")]
    tools = [version("yosys", "-V"), version("sta", "-version")]
    told = recorded("OpenSTA on soc", [*tools, Path(__file__).read_text("utf-8"), *texts], summary)
    assert told["before"] == ["edge"]
    assert told["other ends"] == []
    assert told["paths"] > 200
    limits = {tuple(each) for each in told["after"]}
    assert {(clocks, limit) for clocks, limit, _ in limits} == {
        ("bus_clock rx_clock", "8.00"), ("rx_clock bus_clock", "10.00"), ("rx_clock bus_clock", "8.00"),
    }  # fmt: skip
    # the shortest limit, at a synchronizer alone
    assert ("rx_clock bus_clock", "8.00", False) not in limits


QUARTUS = Path(__file__).with_name("quartus_stub.tcl")


def test_the_branch_for_quartus_limits_the_registers_that_its_commands_find(tmp_path: Path) -> None:
    _, top = written(CARDS["soc"], tmp_path)
    (tmp_path / "quartus.tcl").write_text(f"source {QUARTUS}\nsource {top}.sdc\n")
    done = run_program([tool("tclsh"), "quartus.tcl"], cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "max bus rx -to dev|i_core|i_freeze|g_far[0].i_beat|i_sync|first_q 8.000",
        "max bus rx -to dev|i_core|i_status|g_clock[1].g_far.i_read|word_q[3] 8.000",
        "max dev|i_core|i_status|g_clock[1].g_far.i_read|word_q[3] -to bus 10.0",
        "max dev|i_core|i_status|g_clock[1].g_far.i_read|word_q[3] -to rx 8.0",
        "max dev|i_core|kinds_q[5] -to bus 10.0",
        "max dev|i_core|kinds_q[5] -to rx 8.0",
    ]
