"""What the recorder costs: LUTs, flip-flops and block RAMs by Yosys, of each build and of what each option adds.

``python -m tests.rtl.area`` prints the tables of docs/rtl-area.md and writes them there, each between its markers or
one of ``builds``, ``options``, ``card``, ``pcix``; LiteScope 2024.12 is generated and synthesized in the same run.
LUTs are LUT1 to LUT6, shift registers, and RAM primitives by the LUTs each takes (7 Series libraries guide); inverters
that only turn a clock or a reset, carry chains and wide multiplexers are not counted.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.processes import run_program
from tests.rtl.recorded import recorded, sources_of, version
from tests.rtl.simulation import REPOSITORY, tool

NARROW: Mapping[str, object] = {"COUNT_W": 12, "TIME_W": 40, "POST_W": 8}
# four selectable taps, freeze, one 72-bit trigger, time and its pair, register port: nothing else
SELECT: Mapping[str, object] = {
    **NARROW, "NONCE_W": 12, "WITH_KINDS": 0, "WITH_CROSS": 0, "WITH_ERROR_ADDR": 0, "WITH_CRC": 0,
}  # fmt: skip
TABLES: Mapping[str, object] = {**SELECT, "TRIGGER_SRL": 1}
WITHOUT: Mapping[str, object] = {
    "EVENT_DEPTH": 0, "SAMPLER_DEPTH": 0, "COUNTERS": 0, "WITH_BANK": 0, "WITH_CRC": 0, "WITH_PROVOKE": 0,
}  # fmt: skip
PLAIN: Mapping[str, object] = {**WITHOUT, **NARROW, "TRIGGER_TERMS": 1}
# four recorders with a memory each, freeze, one 72-bit trigger, time and its pairs, register port: nothing else
QUAD: Mapping[str, object] = {**NARROW, "NONCE_W": 12}

# LUTs of a primitive that holds bits in LUTs
_LUT_RAM = {
    "RAM32M": 4, "RAM64M": 4, "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32X1S": 1, "RAM64X1S": 1,
    "RAM128X1S": 2, "RAM256X1S": 4, "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Area:
    """LUTs, flip-flops, and block RAMs in halves of a RAMB36."""

    luts: int
    flops: int
    half_brams: int

    def __sub__(self, other: Area) -> Area:
        return Area(
            self.luts - other.luts, self.flops - other.flops, self.half_brams - other.half_brams
        )

    def __str__(self) -> str:
        return f"{self.luts} | {self.flops} | {self.half_brams / 2:g}"


def synthesize(
    top: str,
    parameters: Mapping[str, object] | None = None,
    sources: Sequence[Path] = (),
    family: str = "xc7",
) -> Area:
    """Return what a module takes on a family, ``xc7`` or ``ecp5``, flattened.

    Raises:
        RuntimeError: Yosys failed; the message is the end of what it said.
    """
    paths = list(sources) or sources_of(top)
    files = " ".join(str(path) for path in paths)
    chosen = " ".join(f"-set {name} {value}" for name, value in (parameters or {}).items())
    command = {
        "xc7": f"synth_xilinx -family xc7 -flatten -top {top}",
        "ecp5": f"synth_ecp5 -top {top}",
    }[family]
    script = [f"read_verilog -defer {files}", *([f"chparam {chosen} {top}"] if chosen else []),
              f"hierarchy -top {top}", command, "stat"]  # fmt: skip

    def run() -> dict[str, int]:
        told = run_program([tool("yosys"), "-p", "; ".join(script)], timeout=900)
        if told.returncode:
            raise RuntimeError(f"yosys on {top}: {(told.stdout + told.stderr)[-600:]}")
        last = told.stdout[told.stdout.rindex("Number of cells:") :]
        cells = re.findall(r"^\s+(\w+)\s+(\d+)\s*$", last, re.M)
        return {name: int(number) for name, number in cells}

    texts = [path.read_text("utf-8") for path in paths]
    name = f"area of {top} {chosen} {family}"
    return _counted(recorded(name, [*texts, chosen, command, version("yosys", "-V")], run))


def _counted(cells: Mapping[str, int]) -> Area:
    luts = sum(number for name, number in cells.items() if re.fullmatch(r"LUT[1-6]", name))
    luts += sum(cells.get(name, 0) * each for name, each in _LUT_RAM.items())
    luts += 2 * cells.get("TRELLIS_DPR16X4", 0) + 2 * cells.get("CCU2C", 0)
    flops = sum(
        number for name, number in cells.items() if re.fullmatch(r"FD[RSCP]E|TRELLIS_FF", name)
    )
    half = 2 * cells.get("RAMB36E1", 0) + cells.get("RAMB18E1", 0) + cells.get("DP16KD", 0)
    return Area(luts, flops, half)


def litescope(folder: Path, depth: int = 2048, bits: int = 72) -> Area:
    """Return what LiteScope's analyzer takes: one probe group, its registers behind a Wishbone port.

    Raises:
        ImportError: LiteScope is not installed (the peers extra).
    """
    from litescope import LiteScopeAnalyzer
    from litex.gen.fhdl.verilog import convert
    from litex.soc.interconnect import csr_bus, wishbone
    from migen import ClockDomain, Module, Signal

    top = Module()
    top.clock_domains.cd_sys = ClockDomain()
    probe = Signal(bits)
    top.submodules.analyzer = LiteScopeAnalyzer([probe], depth=depth, clock_domain="sys")
    top.submodules.banks = csr_bus.CSRBankArray(
        top, lambda name, _: {"analyzer": 0}.get(name), data_width=32
    )
    bus, csr = wishbone.Interface(), csr_bus.Interface(data_width=32)
    top.submodules.bridge = wishbone.Wishbone2CSR(bus, csr)
    top.submodules.interconnect = csr_bus.Interconnect(csr, top.banks.get_buses())
    ios = {
        probe,
        top.cd_sys.clk,
        top.cd_sys.rst,
        *(s for s in bus.flatten() if isinstance(s, Signal)),
    }
    written = folder / f"litescope-{bits}.v"
    convert(top, ios=ios, name="litescope_peer").write(str(written))
    return synthesize("litescope_peer", sources=[written])


PAGE = REPOSITORY / "docs" / "rtl-area.md"
SELECT_OPTIONS: list[tuple[str, Mapping[str, object]]] = [
    ("`WITH_KINDS`: ctl.kinds chooses the kinds recorded", {"WITH_KINDS": 1}),
    ("`WITH_CROSS`: cross-freeze", {"WITH_CROSS": 1}),
    ("`WITH_ERROR_ADDR`: id.bus_error_addr", {"WITH_ERROR_ADDR": 1}),
    ("`NONCE_W` 32 in place of 12", {"NONCE_W": 32}),
    ("`WITH_CRC`: CRC table", {"WITH_CRC": 1}),
]
OPTIONS: list[tuple[str, Mapping[str, object]]] = [
    ("event log, 2048 records, 8 + 7 lanes", {"EVENT_DEPTH": 2048, "EV_BUS": 8, "EV_LINK": 7}),
    ("counters, 32 x 64 bit, two snapshots, freeze", {"COUNTERS": 32}),
    ("freeze bank, 8 flows", {"WITH_BANK": 1}),
    ("CRC table", {"WITH_CRC": 1}),
    ("sampler, 1024 samples, and both histograms", {"SAMPLER_DEPTH": 1024}),
    ("provocation: packet injector", {"WITH_PROVOKE": 1}),
]


def _builds() -> list[tuple[str, Area]]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = [
            ("ff_quad_lean: four memories of 72 x 2048, a tap each, two clock domains",
             pool.submit(synthesize, "ff_quad_lean", QUAD)),
            ("LiteScope 2024.12, 288 x 2048, one clock domain", pool.submit(litescope, Path(folder), bits=288)),
            ("ff_quad: the same with no options, narrow", pool.submit(synthesize, "ff_quad", PLAIN)),
            ("ff_select: 72 x 2048, four selectable taps, trigger in flip-flops",
             pool.submit(synthesize, "ff_select", SELECT)),
            ("ff_select: the same, trigger in shift-register tables (`TRIGGER_SRL`)",
             pool.submit(synthesize, "ff_select", TABLES)),
            ("LiteScope 2024.12, 72 x 2048, one probe group", pool.submit(litescope, Path(folder))),
        ]  # fmt: skip
        found = [(name, job.result()) for name, job in jobs]
    return [*found[3:], *found[:3]]


def _options() -> list[tuple[str, Area]]:
    with ThreadPoolExecutor(2) as pool:
        jobs = [(top, base, pool.submit(synthesize, top, base)) for top, base in
                (("ff_select", SELECT), ("ff_quad", WITHOUT))]  # fmt: skip
        added = [
            (f"{top} + {name}", job, pool.submit(synthesize, top, {**base, **parameters}))
            for (top, base, job), options in zip(jobs, (SELECT_OPTIONS, OPTIONS), strict=True)
            for name, parameters in options
        ]
        return [(name, with_it.result() - job.result()) for name, job, with_it in added]


_TAP: Mapping[str, object] = {"POST_W": 32}
_NO_OPTION: Mapping[str, object] = {"STEPS": 1, "COUNT_W": 0, "TIMER_W": 0, "PIN": 0}
_ONE_STEP: Mapping[str, object] = {"STEPS": 1, "COUNT_W": 0, "TIMER_W": 0}
_ALL_OF_IT: Mapping[str, object] = {"TERMS": 4, "STEPS": 3, "PIN": 1}
CARD_BLOCKS: list[tuple[str, str, Mapping[str, object]]] = [
    ("tap of 64 bits, no keep", "ff_card_tap", {**_TAP, "BITS": 64, "KEEP": 0}),
    ("tap of 64 bits, keep tail, user", "ff_card_tap", {**_TAP, "BITS": 64, "USER_W": 1}),
    ("the same, fast", "ff_card_tap", {**_TAP, "BITS": 64, "USER_W": 1, "FAST": 1}),
    ("tap of 8 bits, exact", "ff_card_tap", {**_TAP, "BITS": 8, "KEEP": 0, "USER_W": 1}),
    ("tap of 512 bits, keep tail", "ff_card_tap", {**_TAP, "BITS": 512, "USER_W": 1}),
    ("the same, fast", "ff_card_tap", {**_TAP, "BITS": 512, "USER_W": 1, "FAST": 1}),
    ("tap of 64 bits, summaries", "ff_card_tap", {**_TAP, "BITS": 64, "USER_W": 1, "STORE": 1}),
    ("event log of 4 sources", "ff_card_log", {**_TAP, "SOURCES": 4}),
    ("event log of 32 sources", "ff_card_log", {**_TAP, "SOURCES": 32}),
    ("a source of it, an event of 16 bits", "ff_card_source", {"VALUE_W": 16}),
    ("histogram", "ff_card_histogram", {}),
    ("a clock beside the bus's", "ff_card_domain", {"CAUSES": 12}),
    ("FCS check, 64 bits", "ff_check_fcs", {"BITS": 64}),
    ("FCS check, 512 bits", "ff_check_fcs", {"BITS": 512}),
    ("trigger at a tap, one term, without steps", "ff_card_trigger", {}),
    ("trigger at a tap of steps, one term", "ff_card_trigger_tap", {"TERMS": 1}),
    ("the same, two terms", "ff_card_trigger_tap", {"TERMS": 2}),
    ("the same, three terms", "ff_card_trigger_tap", {"TERMS": 3}),
    ("the same, four terms", "ff_card_trigger_tap", {"TERMS": 4}),
    ("registers of a trigger without steps, two taps", "ff_card_trigger_port", {}),
    ("the same, one term, one step, no count, timer or pin", "ff_card_trigger_port", _ONE_STEP),
    ("the same, four terms", "ff_card_trigger_port", {**_ONE_STEP, "TERMS": 4}),
    ("the same as one term, three steps", "ff_card_trigger_port", {**_ONE_STEP, "STEPS": 3}),
    (
        "the same, counts of 16 bits",
        "ff_card_trigger_port",
        {**_ONE_STEP, "STEPS": 3, "COUNT_W": 16},
    ),
    ("the same, four terms, three steps, counts, timer, pin", "ff_card_trigger_port", _ALL_OF_IT),
    ("steps of a trigger, two taps: one step alone", "ff_card_trigger_sequence", _NO_OPTION),
    ("the same, two steps", "ff_card_trigger_sequence", {**_NO_OPTION, "STEPS": 2}),
    ("the same, three steps", "ff_card_trigger_sequence", {**_NO_OPTION, "STEPS": 3}),
    (
        "three steps with counts of 16 bits",
        "ff_card_trigger_sequence",
        {**_NO_OPTION, "STEPS": 3, "COUNT_W": 16},
    ),
    (
        "three steps with a timer of 24 bits",
        "ff_card_trigger_sequence",
        {**_NO_OPTION, "STEPS": 3, "TIMER_W": 24},
    ),
    ("three steps with a pin", "ff_card_trigger_sequence", {**_NO_OPTION, "STEPS": 3, "PIN": 1}),
    ("three steps with all three", "ff_card_trigger_sequence", {}),
    ("four counters of two clocks", "ff_count_bank", {"COUNT": 4, "DOMAINS": 2}),
]


def card_blocks() -> list[tuple[str, Area]]:
    """Return what the blocks of a card that is described by a file take, each alone."""
    return [(name, synthesize(top, parameters)) for name, top, parameters in CARD_BLOCKS]


PCIX_BLOCKS: list[tuple[str, str]] = [
    ("ff_nic_pcix, all of it", "ff_nic_pcix"),
    ("initiator", "ff_nic_pcix_initiator"),
    ("target", "ff_nic_pcix_target"),
    ("completer: a block of writes, a split read", "ff_nic_pcix_completer"),
    ("posted writes, 256 words", "ff_nic_pcix_writes"),
    ("reads", "ff_nic_pcix_reads"),
    ("configuration space", "ff_nic_pcix_config"),
    ("driver's registers", "ff_nic_pcix_driver"),
]


def pcix_blocks() -> list[tuple[str, Area]]:
    """Return what the PCI-X front end of the example card takes, and each of its parts alone."""
    return [(name, synthesize(top)) for name, top in PCIX_BLOCKS]


TABLES_OF = {
    "builds": _builds, "options": _options, "card": card_blocks, "pcix": pcix_blocks,
}  # fmt: skip


def main(names: Sequence[str]) -> int:
    """Print the tables named, or all, and write each into the page."""
    wrong = set(names) - set(TABLES_OF)
    if wrong:
        print(
            f"area: {', '.join(sorted(wrong))}: write builds, options, card, pcix or nothing",
            file=sys.stderr,
        )
        return 2
    for table in names or TABLES_OF:
        begin, end = f"<!-- {table}: written by make area -->", f"<!-- end of {table} -->"
        rows = TABLES_OF[table]()
        text = "\n".join(
            [f"| {table} | LUT | FF | BRAM36 |", "|---|---|---|---|"]
            + [f"| {name} | {area} |" for name, area in rows]
        )
        print(text, flush=True)
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
        _, found, behind = rest.partition(end)
        if not found:
            print(f"area: {PAGE} has no place for the table: {begin} ... {end}", file=sys.stderr)
            return 1
        PAGE.write_text(f"{before}{begin}\n{text}\n{end}{behind}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
