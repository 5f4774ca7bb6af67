"""The constraints of a built device against the crossings in Yosys' netlist: none without a rule, no rule without one.

Two devices in one design, so that each file has to find its own and a time line passes between them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from freezeframe.capture.card.build.constraints import CROSSINGS, vivado_constraints
from freezeframe.capture.card.build.ports import top_ports
from freezeframe.capture.card.elaborated import ElaboratedCard
from tests.processes import run_program
from tests.rtl.card.netlist import Netlist, Register, netlist
from tests.rtl.card.test_card_device import CARDS, written
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import modules, tool

STUB = Path(__file__).with_name("vivado_stub.tcl")
PERIODS = {
    "clk_bus_a": 10.0,
    "clk_rx_a": 6.4,
    "clk_tx_a": 8.0,
    "clk_dead_a": 40.0,
}  # ns, of the card odd
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

    folder: Path
    cards: dict[str, ElaboratedCard]
    files: list[str]


def instance(name: str, card: ElaboratedCard, parameters: str, connected: dict[str, str]) -> str:
    """Return an instance of a device with its clocks at ports of the top, and nothing else but what is given."""
    ports = [port.split()[-1] for port in top_ports(card)]
    wires = {port: f"{port}_{name}" for port in ports if port.startswith("clk_")} | connected
    pins = ", ".join(f".{port}({wires[port]})" for port in ports if port in wires)
    return f"    {card.name}_freezeframe #({parameters}) i_{name} ({pins});"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Design:
    """Build two cards, one the master of the other's time."""
    folder = tmp_path_factory.mktemp("pair")
    cards, files = {}, {}
    for name, of in (("a", "odd"), ("b", "logs")):
        text = re.sub(
            r"depth = \d+", "depth = 16", CARDS[of].read_text()
        )  # the paths are the same ones
        text += "[trigger]\nterms = 2\nsteps = 2\npin = true\n" * (name == "a")
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
    return Design(folder, cards, ["pair.v", *files.values()])


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


def of_pair(pair: Design) -> dict[str, Any]:
    """Return what the constraints of both devices say over the netlist of both."""
    design = netlist("pair", pair.files, pair.folder)
    pins = {
        f"{key}/clk_{clock.name}": f"clk_{clock.name}_{key[2:]}"
        for key, card in pair.cards.items()
        for clock in card.clocks
    }
    found, marked, strangers = [], set(), set()
    for key, card in pair.cards.items():
        file = pair.folder / key[2:] / f"{card.name}_freezeframe_vivado.tcl"
        of_card, of_sync = rules(design, pins, file, pair.folder)
        named = {name for rule in of_card for name in rule.starts | rule.ends if "/" in name}
        strangers |= {name for name in named if not name.startswith(f"{key}/")}
        found += of_card
        marked |= of_sync
    matched = limits(design, found)
    first = {
        register_name(design, r)
        for r in design.registers
        if (r.module, r.name) == ("ff_cdc_sync", "first_q")
    }
    own = {f"i_a/{clock[:-2]}": clock for clock in PERIODS}
    alone, _ = rules(design, own, pair.folder / "a" / "odd_freezeframe_vivado.tcl", pair.folder)
    return {
        "crossings": len(matched),
        "without one rule": [f"{crossing}: {by}" for crossing, by in matched.items() if len(by) != 1],
        "rules": sorted({rule.line for by in matched.values() for rule in by}),
        "strangers": sorted(strangers),
        "marked amiss": sorted(marked ^ first),
        "limits": sorted({
            ("synchronizer" if end.name == "first_q" else end.clock, rule.ns)
            for (_, end), by in limits(design, alone).items() for rule in by
        }),
    }  # fmt: skip


@pytest.fixture(scope="module")
def told(pair: Design) -> dict[str, Any]:
    mine = [Path(__file__), Path(__file__).with_name("netlist.py"), STUB]
    scripts = [
        pair.folder / key[2:] / f"{card.name}_freezeframe_vivado.tcl"
        for key, card in pair.cards.items()
    ]
    files = [*mine, *scripts, *(pair.folder / file for file in pair.files)]
    inputs = [version("yosys", "-V"), *(file.read_text("utf-8") for file in files)]
    return recorded("constraints of two devices", inputs, lambda: of_pair(pair))


def test_each_crossing_of_two_devices_has_exactly_one_rule_and_each_rule_a_crossing(
    told: dict[str, Any],
) -> None:
    assert told["crossings"] > 300
    assert told["without one rule"] == told["strangers"] == told["marked amiss"] == []
    assert set(told["rules"]) == {
        f"{rule.direction} {rule.module}" for rule in CROSSINGS if rule.module not in ALONE
    }


def test_the_limit_is_the_period_of_the_clock_a_path_ends_in_and_the_shortest_at_a_synchronizer(
    told: dict[str, Any],
) -> None:
    limits_ns = dict(told["limits"])
    assert len(limits_ns) == len(told["limits"])  # one each
    assert limits_ns.pop("synchronizer") == 6.4
    assert limits_ns and limits_ns.items() <= PERIODS.items()


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
