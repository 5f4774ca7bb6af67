"""ff_regs.v in the stock tools of Debian 12: lint, synthesis, and its behaviour in simulation."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from freezeframe.capture.registers.map_table import MAP_HASH, REGISTERS, WINDOWS
from tests.processes import run_program
from tests.registers.sources import GENERATED
from tests.rtl.recorded import recorded, version
from tests.rtl.simulation import tool

RTL = GENERATED / "ff_regs.v"
BENCH = Path(__file__).parent / "ff_regs_tb.v"
BASE = {register.name: register.address for register in REGISTERS}
ALL_ONES = 0xFFFFFFFF
LUT_LIMIT = 510  # 492 with Yosys 0.23; room for another version's luck, not for another multiplexer


@dataclass(frozen=True)
class Answer:
    """What one access gave and set off: ``sel`` names windows by bit, the rest are counts."""

    data: int
    error: bool
    cycles: int
    sel: int
    arms: int
    freezes: int
    injects: int
    strobes: int
    value: int
    stores: int


Step = tuple[str, int, int]
Run = Callable[[Sequence[Step]], list[str]]


def read(address: int) -> Step:
    return ("r", address, 0)


def write(address: int, data: int) -> Step:
    return ("w", address, data)


def state(number: int) -> Step:
    return ("s", number, 0)


CONFIGURATION: Step = ("c", 0, 0)
RESET: Step = ("R", 0, 0)


def answer(line: str) -> Answer:
    """Parse a result; an x or z of the simulator is no number and fails here."""
    data, error, cycles, sel, arms, freezes, injects, strobes, value, stores = line.split()
    counts = (int(arms), int(freezes), int(injects), int(strobes))
    return Answer(int(data, 16), error == "1", int(cycles), int(sel, 16), *counts, int(value, 16), int(stores))  # fmt: skip  # noqa: E501


def compile_bench(folder: Path, index: int) -> Path:
    program = folder / f"bench{index}.vvp"
    told = run_program([tool("iverilog"), "-g2005", "-Wall", "-Wno-portbind", f"-Pff_regs_tb.INDEX={index}",
         "-s", "ff_regs_tb", "-o", program, BENCH, RTL])  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")
    return program


def runner(program: Path, folder: Path) -> Run:
    def run(steps: Sequence[Step]) -> list[str]:
        script = folder / "script.txt"
        script.write_text("".join(f"{op} {a:08x} {b:08x}\n" for op, a, b in steps), "utf-8")
        told = run_program([tool("vvp"), "-n", program, f"+script={script}"], check=True)
        return told.stdout.splitlines()

    return run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("ff_regs")
    return runner(compile_bench(folder, 0), folder)


@pytest.fixture(scope="module")
def accesses(run: Run) -> Callable[[Sequence[Step]], list[Answer]]:
    return lambda steps: [answer(line) for line in run(steps)]


Accesses = Callable[[Sequence[Step]], list[Answer]]


def test_identity_is_the_map_and_the_parameters(accesses: Accesses) -> None:
    names = ("id.magic", "id.format", "id.map_hash", "id.build_hash", "id.boot_nonce", "id.devices",
             "id.trace", "id.tap_depth", "id.clk_bus", "id.flows", "id.post_drain")  # fmt: skip
    answers = accesses([read(BASE[name]) for name in names])
    assert [a.data for a in answers] == [
        0x46525A46, 0x00010000, MAP_HASH, 0xB111D000, 0x0B00700C, 0x01180002,
        0x00444041, 2048, 100_000_000, 0x00000D80, 1024,
    ]  # fmt: skip
    assert {(a.error, a.cycles, a.sel, a.strobes) for a in answers} == {(False, 0, 0, 0)}


def test_status_comes_from_the_ports_with_reserved_bits_zero(accesses: Accesses) -> None:
    names = ("ctl.generation", "ctl.state", "ctl.causes", "ctl.cause_cycle_lo",
             "ctl.cause_cycle_hi", "ctl.snapshot_seq", "provoke.inject_count")  # fmt: skip
    answers = accesses([state(3), *(read(BASE[name]) for name in names)])
    assert [a.data for a in answers] == [41, 0x1613, 0x804, 0x11111111, 0x22222222, 7, 3]


def test_every_configuration_register_reads_its_reset_value_from_the_start(
    accesses: Accesses,
) -> None:
    places = configuration()
    answers = accesses([read(address) for address, _, _ in places])
    assert [a.data for a in answers] == [reset for _, _, reset in places]
    assert not any(a.error for a in answers)


def configuration() -> list[tuple[int, int, int]]:
    """Return (address, bits that exist, reset value) of every host-writable word that is stored."""
    found = []
    for register in REGISTERS:
        if register.access != "rw":
            continue
        mask = sum(field.mask for field in register.fields)
        reset = sum(field.reset << field.lsb for field in register.fields)
        addresses = [register.address]
        for count, stride in register.dims:
            addresses = [base + n * stride for base in addresses for n in range(count)]
        found += [(address, mask, reset) for address in addresses]
    return found


def test_every_configuration_register_returns_what_was_written_and_no_reserved_bit(
    accesses: Accesses,
) -> None:
    places = configuration()
    values = [(0x9E3779B9 * (n + 1)) & ALL_ONES for n in range(len(places))]
    steps = [write(place[0], value) for place, value in zip(places, values, strict=True)]
    steps += [read(address) for address, _, _ in places]  # after all writes: none disturbs another
    steps += [write(address, ALL_ONES) for address, _, _ in places]
    steps += [read(address) for address, _, _ in places]
    answers = accesses(steps)
    count = len(places)
    back = [a.data for a in answers[count : 2 * count]]
    assert back == [v & mask for v, (_, mask, _) in zip(values, places, strict=True)]
    assert [a.data for a in answers[3 * count :]] == [mask for _, mask, _ in places]
    assert not any(a.error for a in answers)
    assert {a.strobes for a in answers[:count]} == {1}
    assert [a.value for a in answers[:count]] == values


def test_the_hardware_sees_what_was_written_and_the_reset_brings_back_the_first_values(
    run: Run,
) -> None:
    steps = [
        CONFIGURATION,
        write(BASE["ctl.cause_mask"], 0x5A5),
        write(BASE["ctl.options"], 0x30),
        write(BASE["ctl.kinds"] + 4, 0xE00E),
        write(BASE["ctl.post"] + 16, 5),
        write(BASE["ctl.index"], 4 << 24 | 2047),
        write(BASE["trigger.term.mask_hi"] + 0x20, 0xCAFE0000),
        write(BASE["provoke.traffic_seed"], 0x5EED),
        CONFIGURATION,
        RESET,
        CONFIGURATION,
        read(BASE["ctl.cause_mask"]),
    ]
    lines = run(steps)
    kinds, post = "0000ffff" * 5, "00000040" * 5
    first = f"00000fff 1 0 {kinds} {post} 00000010 00000400 0 0 {'0' * 16} 00000000 00000000"
    assert lines[0] == first
    kinds = "0000ffff" * 3 + "0000e00e" + "0000ffff"
    post = "00000005" + "00000040" * 4
    assert lines[8] == (
        f"000005a5 0 3 {kinds} {post} 00000010 00000400 4 2047 cafe000000000000 00000000 00005eed"
    )
    assert lines[9] == first
    assert answer(lines[10]).data == 0xFFF


@pytest.mark.parametrize(
    ("name", "pulse"),
    [("ctl.arm", "arms"), ("ctl.freeze", "freezes"), ("provoke.inject", "injects")],
)
def test_a_pulse_register_gives_one_pulse_with_the_exact_value_and_keeps_nothing(
    name: str, pulse: str, accesses: Accesses
) -> None:
    # The three share low address bits with configuration words, which must keep their values.
    keep = [write(address, address) for address, _, _ in configuration()]
    look = [read(address) for address, _, _ in configuration()]
    answers = accesses([*keep, *look, write(BASE[name], 0x4152002A), *look])
    count = len(keep)
    shot = answers[2 * count]
    assert (shot.error, shot.value, shot.strobes) == (False, 0x4152002A, 1)
    fired = {kind: getattr(shot, kind) for kind in ("arms", "freezes", "injects")}
    assert fired == {"arms": 0, "freezes": 0, "injects": 0} | {pulse: 1}
    assert [a.data for a in answers[count : 2 * count]] == [a.data for a in answers[-count:]]
    assert sum(a.arms + a.freezes + a.injects for a in answers) == 1


def test_reading_changes_nothing(accesses: Accesses) -> None:
    everything = [
        address for r in REGISTERS if "r" in r.access and not r.dims for address in [r.address]
    ]
    answers = accesses([state(3), *(read(a) for a in everything * 2)])
    half = len(everything)
    assert [a.data for a in answers[:half]] == [a.data for a in answers[half:]]
    for a in answers:
        assert (a.error, a.arms, a.freezes, a.injects, a.strobes, a.stores) == (
            False,
            0,
            0,
            0,
            0,
            0,
        )


WRONG = {
    "behind the identity": read(0x64),
    "between configuration words": read(0x18C),
    "between memory banks": read(0x214),
    "after the last memory bank": read(0x2A0),
    "a hole in the evidence": read(0x448),
    "between the snapshots": read(0x1100),
    "behind the CRC table": read(0x4500),
    "where only low address bits match": read(0x800),
    "the last word of the device": read(0xFFFFFC),
    "an address that is no multiple of 4": read(0x102),
    "another device": read(0x0100_0000),
    "far outside": write(0xFFFF_FFFC, 1),
    "a read of ARM": read(0x108),
    "a write of a parameter": write(0x000, 1),
    "a write of status": write(0x104, 1),
    "a write of the error count": write(0x05C, 0),
    "a write of a bank": write(0x1000, 1),
    "a write of a trace memory": write(0x40000, 1),
    "beyond what a window has": read(0x40A0),
}


@pytest.mark.parametrize("step", WRONG.values(), ids=WRONG.keys())
def test_an_error_answer_is_all_ones_counted_and_leaves_its_address(
    step: Step, accesses: Accesses
) -> None:
    errors, place = BASE["id.bus_errors"], BASE["id.bus_error_addr"]
    frozen = state(3)  # so that no window is shut for its state
    steps = [frozen, read(errors), read(place), step, read(errors), read(place), step, read(errors)]
    before, nowhere, wrong, after, where, again, last = accesses(steps)
    assert (before.data, nowhere.data) == (0, 0)
    assert (wrong.data, wrong.error) == (ALL_ONES, True)
    assert (wrong.arms, wrong.freezes, wrong.injects, wrong.strobes, wrong.stores) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert (after.data, where.data) == (1, step[1])
    assert again.error
    assert last.data == 2


FROZEN_ONLY = [w.name for w in WINDOWS if w.frozen_only]


@pytest.mark.parametrize("name", [*FROZEN_ONLY, "ctl.index_data"])
def test_a_frozen_only_window_is_shut_in_every_other_state(name: str, accesses: Accesses) -> None:
    address = {w.name: w.address for w in WINDOWS} | BASE
    steps = [s for number in range(4) for s in (state(number), read(address[name]))]
    answers = accesses(steps)
    assert [a.error for a in answers] == [True, True, True, False]
    assert [a.sel for a in answers[:3]] == [0, 0, 0]
    assert answers[3].data == 0x2A5 << 22 | address[name] // 4


SELECTS = [
    "ctl.index_data", "memory", "pair", "frozen", "snapshot", "frozen_counters", "frozen_flow",
    "length_histogram", "occupancy_histogram", "sampler", "crc_table", "inject_buffer", "samples",
    "trace_tx_enq", "trace_tx_deq", "trace_rx_enq", "trace_rx_deq", "trace_event_log",
]  # fmt: skip


def test_every_word_of_the_map_reaches_exactly_one_window_or_none(accesses: Accesses) -> None:
    wanted = {}
    for register in REGISTERS:
        if "r" not in register.access:
            continue
        addresses = [register.address]
        for count, stride in register.dims:
            addresses = [base + n * stride for base in addresses for n in range(count)]
        held = [n for n, name in enumerate(SELECTS) if f"{register.name}.".startswith(f"{name}.")]
        for address in addresses:
            wanted[address] = 1 << held[0] if held else 0
    for window in WINDOWS:
        place = SELECTS.index(window.name)
        last = window.address + 4 * (window.words - 1)
        for address in (window.address, last):
            if window.name != "crc_table" or address == window.address:
                wanted[address] = 1 << place
    addresses = sorted(wanted)
    answers = accesses([state(3), *(read(address) for address in addresses)])
    assert [a.sel for a in answers] == [wanted[address] for address in addresses]
    for address, a in zip(addresses, answers, strict=True):
        assert not a.error, hex(address)
        if a.sel:
            assert a.data == 0x2A5 << 22 | address // 4


def test_a_write_to_the_inject_buffer_reaches_its_block_once(accesses: Accesses) -> None:
    (shot,) = accesses([write(0x6004, 0x1234)])
    assert (shot.error, shot.stores, shot.sel, shot.strobes) == (False, 1, 1 << 11, 0)


def test_a_bus_reset_ends_an_access_and_clears_the_index_and_nothing_else(run: Run) -> None:
    lines = run(
        [
            state(3),
            write(BASE["ctl.index"], 3 << 24 | 9),
            write(BASE["ctl.cause_mask"], 0x123),
            ("b", 0x40000, 0),
            read(BASE["ctl.index"]),
            read(BASE["ctl.cause_mask"]),
            read(BASE["id.bus_errors"]),
            read(0x40004),
        ]
    )
    assert lines[2:4] == ["selected 1", "selected 0 ack 0"]
    assert [answer(line).data for line in lines[4:]] == [0, 0x123, 0, 0x2A5 << 22 | 0x10001]


def test_the_second_device_answers_for_its_own_addresses_and_for_no_others(tmp_path: Path) -> None:
    run = runner(compile_bench(tmp_path, 1), tmp_path)
    lines = run([read(0x0100_0000), read(0), read(0x0100_0060), read(0x0100_0014)])
    answers = [answer(line) for line in lines]
    assert [(a.data, a.error) for a in answers] == [
        (0x46525A46, False),
        (ALL_ONES, True),
        (0, False),  # the address of the last error: 0
        (0x01180102, False),
    ]


def limits() -> list[tuple[str, int, int]]:
    """Return (parameter, smallest, largest) as ff_regs.v states them."""
    pattern = r"parameter \[31:0\] (\w+) = \d+[, ] // .*: (\d+)\.\.(\d+)$"
    found = re.findall(pattern, RTL.read_text(encoding="utf-8"), re.MULTILINE)
    return [(name, int(low), int(high)) for name, low, high in found]


def lint(*overrides: str) -> subprocess.CompletedProcess[str]:
    return run_program([tool("verilator"), "--lint-only", "-Wall", *overrides, str(RTL)])


@pytest.mark.parametrize("end", [1, 2], ids=["smallest", "largest"])
def test_verilator_has_nothing_to_say_at_either_end_of_the_parameters(end: int) -> None:
    assert len(limits()) > 20
    told = lint(*(f"-G{row[0]}=32'd{row[end]}" for row in limits()))
    assert (told.returncode, told.stderr) == (0, "")


def test_a_parameter_out_of_range_ends_elaboration_with_a_sentence() -> None:
    told = lint("-GID_FLOWS_COUNT=32'd129")
    assert told.returncode != 0
    assert "ff_error_ID_FLOWS_COUNT_must_be_1_to_128" in told.stderr


def test_icarus_elaborates_it_as_verilog_2005_without_a_warning(tmp_path: Path) -> None:
    told = run_program([tool("iverilog"), "-g2005", "-Wall", "-o", tmp_path / "out.vvp", RTL])
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.slow
def test_yosys_synthesizes_it_within_its_area(tmp_path: Path) -> None:
    script = "synth_xilinx -flatten -noiopad -top ff_regs; check -assert; tee -o area.txt stat -tech xilinx"

    def synthesized() -> dict[str, int]:
        told = run_program(
            [tool("yosys"), "-q", "-p", f"read_verilog {RTL}; {script}"], cwd=tmp_path
        )
        assert (told.returncode, told.stderr) == (0, "")
        area = (tmp_path / "area.txt").read_text(encoding="utf-8")
        return {
            name: int(count) for name, count in re.findall(r"^ +([A-Z]\w+) +(\d+)$", area, re.M)
        }

    inputs = [RTL.read_text(encoding="utf-8"), script, version("yosys", "-V")]
    cells = recorded("area of ff_regs", inputs, synthesized)
    luts = sum(count for name, count in cells.items() if name.startswith("LUT"))
    assert 0 < luts <= LUT_LIMIT
    assert cells["RAM64X1S"] == 32  # configuration is read back from RAM, not through a multiplexer
    assert not any("LATCH" in name or name.startswith("LD") for name in cells)
