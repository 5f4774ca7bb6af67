"""The constraints of a built device against the crossings in Yosys' netlist: none without a rule, no rule without one.

Two devices in one design, so that each file has to find its own and a time line passes between them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from freezeframe.capture.card.build.constraints import CROSSINGS, vivado_constraints
from freezeframe.capture.card.build.ports import top_ports
from freezeframe.capture.card.elaborated import ElaboratedCard
from tests.processes import run_program
from tests.rtl.card.netlist import Netlist, Register, netlist
from tests.rtl.card.test_card_device import CARDS, written
from tests.rtl.simulation import modules, tool

STUB = Path(__file__).with_name("vivado_stub.tcl")
# A block that no device of a card has so far: its rule is tried on it alone.
ALONE = {"ff_cdc_handshake"}


class Rule(NamedTuple):
    """A recorded set_max_delay: which line of the file made it, clocks or registers on both sides, ns."""

    line: str
    starts: set[str]
    ends: set[str]
    ns: float


class Design(NamedTuple):
    """Two devices below one top, and where they are."""

    netlist: Netlist
    folder: Path
    cards: dict[str, ElaboratedCard]


def instance(name: str, card: ElaboratedCard, parameters: str, connected: dict[str, str]) -> str:
    """Return an instance of a device with its clocks at ports of the top, and nothing else but what is given."""
    ports = [port.split()[-1] for port in top_ports(card)]
    wires = {port: f"{port}_{name}" for port in ports if port.startswith("clk_")} | connected
    pins = ", ".join(f".{port}({wires[port]})" for port in ports if port in wires)
    return f"    {card.name}_freezeframe #({parameters}) i_{name} ({pins});"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Design:
    """Build two cards, one the master of the other's time, and read the netlist of both."""
    folder = tmp_path_factory.mktemp("pair")
    cards, files = {}, {}
    for name, of in (("a", "odd"), ("b", "logs")):
        text = re.sub(
            r"depth = \d+", "depth = 16", CARDS[of].read_text()
        )  # the paths are the same ones
        (folder / f"{name}.toml").write_text(text)
        card, top = written(folder / f"{name}.toml", folder / name)
        cards[f"i_{name}"] = card
        for file in (folder / name / f"{top}.f").read_text().split():
            files[Path(file).name] = f"{name}/{file}"
    clocks = [f"clk_{clock.name}_{key[2:]}" for key, card in cards.items() for clock in card.clocks]
    top_text = "\n".join([
        f"module pair (input wire {', '.join(clocks)}, output wire seen);",
        "    wire [32:0] line;",
        instance("a", cards["i_a"], ".DEVICES(2)", {"time_in": "line", "time_out": "line"}),
        instance("b", cards["i_b"], ".DEVICES(2), .INDEX(1), .TIME_MASTER(0)", {"time_in": "line"}),
        "    assign seen = ^line;",
        "endmodule",
    ])  # fmt: skip
    (folder / "pair.v").write_text(top_text + "\n")
    return Design(netlist("pair", ["pair.v", *files.values()], folder), folder, cards)


def vivado_name(instances: dict[str, str], path: str) -> str:
    """Return a path as Vivado writes it: a slash between instances, a dot behind a generate block."""
    parent = path.rpartition(".")[0]
    while parent and parent not in instances:
        parent = parent.rpartition(".")[0]
    return f"{vivado_name(instances, parent)}/{path[len(parent) + 1 :]}" if parent else path


def register_name(design: Netlist, register: Register) -> str:
    own = f"{register.name}_reg[0]"
    return f"{vivado_name(design.instances, register.instance)}/{own}" if register.instance else own


def rules(
    design: Netlist, pins: dict[str, str], constraints: Path, folder: Path
) -> tuple[list[Rule], set[str]]:
    """Run a file of constraints over a netlist; return what it limits, and the registers that it marks ASYNC_REG."""
    lines = [f"pin {pin} {clock}" for pin, clock in pins.items()]
    lines += [f"clock {clock}" for clock in sorted({r.clock for r in design.registers})]
    for path, module in design.instances.items():
        if path:
            name = vivado_name(design.instances, path)
            lines.append(f"cell {name} {module} {name.rpartition('/')[0]}")
    for register in design.registers:
        name = register_name(design, register)
        lines.append(f"register {name} {name.rpartition('/')[0]} {register.clock}")
    (folder / "netlist.txt").write_text("\n".join(lines) + "\n")
    done = run_program([tool("tclsh"), STUB, folder / "netlist.txt", constraints])
    assert (done.returncode, done.stderr) == (0, "")
    found, marked = [], set()
    for line in done.stdout.splitlines():
        kind, *words = line.split("\t")
        if kind == "limit":
            found.append(
                Rule(words[0], set(words[1].split()), set(words[2].split()), float(words[3]))
            )
        else:
            assert words[0] == "ASYNC_REG TRUE"
            marked.add(words[1])
    return found, marked


def limits(design: Netlist, found: list[Rule]) -> dict[tuple[Register, Register], list[Rule]]:
    """Return which rules limit each crossing."""
    matched = {}
    for start, end in design.crossings:
        begins = {start.clock, register_name(design, start)}
        ends = {end.clock, register_name(design, end)}
        matched[start, end] = [rule for rule in found if rule.starts & begins and rule.ends & ends]
    return matched


def test_each_crossing_of_two_devices_has_exactly_one_rule_and_each_rule_a_crossing(
    pair: Design,
) -> None:
    pins = {
        f"{key}/clk_{clock.name}": f"clk_{clock.name}_{key[2:]}"
        for key, card in pair.cards.items()
        for clock in card.clocks
    }
    found, marked = [], set()
    for key, card in pair.cards.items():
        file = pair.folder / key[2:] / f"{card.name}_freezeframe_vivado.tcl"
        of_card, of_sync = rules(pair.netlist, pins, file, pair.folder)
        assert all(
            name.startswith(f"{key}/")
            for rule in of_card
            for name in rule.starts | rule.ends
            if "/" in name
        )
        found += of_card
        marked |= of_sync
    matched = limits(pair.netlist, found)
    assert len(matched) > 300
    assert {crossing: len(by) for crossing, by in matched.items() if len(by) != 1} == {}
    used = {rule.line for by in matched.values() for rule in by}
    assert used == {
        f"{rule.direction} {rule.module}" for rule in CROSSINGS if rule.module not in ALONE
    }
    first = {
        register_name(pair.netlist, r)
        for r in pair.netlist.registers
        if (r.module, r.name) == ("ff_cdc_sync", "first_q")
    }
    assert marked == first


def test_the_limit_is_the_period_of_the_clock_a_path_ends_in_and_the_shortest_at_a_synchronizer(
    pair: Design,
) -> None:
    periods = {"clk_bus_a": 10.0, "clk_rx_a": 6.4, "clk_tx_a": 8.0, "clk_dead_a": 40.0}
    pins = {f"i_a/{clock[:-2]}": clock for clock in periods}
    found, _ = rules(
        pair.netlist, pins, pair.folder / "a" / "odd_freezeframe_vivado.tcl", pair.folder
    )
    for (_, end), by in limits(pair.netlist, found).items():
        for rule in by:
            assert rule.ns == (6.4 if end.name == "first_q" else periods[end.clock]), end


def test_the_rules_of_the_fifo_and_the_handshake_hold_where_the_device_is_the_whole_design(
    tmp_path: Path,
) -> None:
    card, top = written(CARDS["soc"], tmp_path)
    text = f"""module {top} (
        input wire clk_sys, clk_eth_rx, input wire [7:0] d, output reg [7:0] f, h, output wire r, s
    );
    wire [7:0] fifo, shake;
    ff_cdc_fifo #(.DATA_W(8)) i_fifo (.s_clk(clk_eth_rx), .s_rst(1'b0), .s_valid(1'b1), .s_data(d), .s_ready(r),
        .m_clk(clk_sys), .m_rst(1'b0), .m_valid(), .m_data(fifo), .m_ready(1'b1));
    ff_cdc_handshake #(.DATA_W(8)) i_shake (.s_clk(clk_eth_rx), .s_rst(1'b0), .s_valid(1'b1), .s_data(d), .s_ready(s),
        .m_clk(clk_sys), .m_rst(1'b0), .m_valid(), .m_data(shake), .m_ready(1'b1));
    always @(posedge clk_sys) {{f, h}} <= {{fifo, shake}};
endmodule
"""
    (tmp_path / f"{top}.v").write_text(text)
    blocks = ["ff_cdc_sync", "ff_cdc_fifo", "ff_cdc_handshake"]
    for block in blocks:
        (tmp_path / f"{block}.v").write_text(modules()[block].read_text())
    (tmp_path / "rules.tcl").write_text(vivado_constraints(card, blocks))
    design = netlist(top, [f"{top}.v", *(f"{block}.v" for block in blocks)], tmp_path)
    pins = {"clk_sys": "clk_sys", "clk_eth_rx": "clk_eth_rx"}
    found, _ = rules(design, pins, tmp_path / "rules.tcl", tmp_path)
    by_crossing = limits(design, found)
    assert all(len(by) == 1 for by in by_crossing.values())
    assert {(start.name, by[0].line, by[0].ns) for (start, _), by in by_crossing.items()} == {
        ("data_q", "out_of ff_cdc_handshake", 10.0), ("ram", "out_of ff_cdc_fifo", 10.0),
        *((name, "synchronized ff_cdc_sync", 8.0) for name in ("request_q", "taken_q", "write_gray_q", "read_gray_q")),
    }  # fmt: skip
