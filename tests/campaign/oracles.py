"""Decoders against their oracles on many generated captures: sigrok-cli where it has a decoder, else a bus model.

Runs the tests of tests/decoders that take `seeds`, with 200 seeds each, and writes docs/campaign-oracles.md.
``make campaign-oracles``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from tests.campaign.seeds import SEEDS

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "docs" / "campaign-oracles.md"

# test: what is decoded, what it is held against, and the captures of each of its cases; those with one take `seeds`
CASES = {
    "serial/test_uart.py::test_a_generated_line_gives_what_sigrok_gives": ("UART", "sigrok-cli", 1),
    "serial/test_spi.py::test_a_generated_capture_gives_what_sigrok_gives": (
        "SPI",
        "sigrok-cli",
        1,
    ),
    "serial/test_i2c.py::test_a_generated_bus_gives_what_sigrok_gives": ("I2C", "sigrok-cli", 1),
    "serial/test_jtag.py::test_a_generated_chain_gives_what_sigrok_gives": (
        "JTAG",
        "sigrok-cli",
        1,
    ),
    "serial/test_mdio_sigrok.py::test_a_generated_capture_gives_the_frames_that_sigrok_gives": (
        "MDIO",
        "sigrok-cli",
        1,
    ),
    "bus/test_parallel.py::test_on_50_captures_items_and_words_are_those_of_sigrok": (
        "parallel",
        "sigrok-cli",
        50,
    ),
    "parts/test_spiflash.py::test_generated_commands_are_those_that_sigrok_gives": (
        "SPI flash",
        "sigrok-cli",
        1,
    ),
    "parts/test_eeprom.py::test_generated_operations_are_those_that_sigrok_gives": (
        "EEPROM",
        "sigrok-cli",
        1,
    ),
    "bus/test_pci.py::test_legal_traffic_gives_its_transactions_and_no_error": (
        "PCI",
        "model of the bus",
        40,
    ),
    "bus/test_pcix.py::test_legal_traffic_gives_its_transactions_and_splits": (
        "PCI-X",
        "model of the bus",
        25,
    ),
    "link/test_symbols.py::test_hundreds_of_damaged_lines_read_as_the_standard_says": (
        "8b/10b",
        "model of the line",
        25,
    ),
    "link/test_bonded.py::test_a_hundred_damaged_links_read_as_the_formats_say": (
        "bonded lanes",
        "model of the link",
        15,
    ),
}


def main(argv: list[str] | None = None) -> int:
    """Run all cases; return 1 when a capture was decoded otherwise than its oracle has it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--seeds", type=int, default=200, help="generated captures of each protocol"
    )
    parser.add_argument("--write", action="store_true", help="write docs/campaign-oracles.md")
    options = parser.parse_args(argv)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ff-oracles-") as folder:
        result = Path(folder) / "result.xml"
        tests = [str(ROOT / "tests" / "decoders" / name) for name in CASES]
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--junitxml={result}", *tests]
        environment = {**os.environ, SEEDS: str(options.seeds)}
        code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        text = _table(result, options.seeds, time.monotonic() - started)
    print(text)
    if options.write:
        REPORT.write_text(text, encoding="utf-8")
    return code


def _table(result: Path, count: int, seconds: float) -> str:
    same: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for case in ElementTree.parse(result).iter("testcase"):
        name = str(case.get("name")).partition("[")[0]
        whole[name] += 1
        same[name] += (
            case.find("failure") is None
            and case.find("error") is None
            and case.find("skipped") is None
        )
    lines = [
        "# Decoders against their oracles",
        "",
        f"`make campaign-oracles`: {count} generated captures of each protocol, with glitches, framing errors, "
        f"odd idle levels and cut ends, in {seconds / 60:.1f} minutes on {os.cpu_count()} cores.",
        "Every value, its place, and every error must be the same; where ours differs on purpose, a test of its own "
        "says how, and the decoder's page why.",
        "",
        "| decoder | held against | captures | decoded the same |",
        "|---|---|---|---|",
    ]
    for test, (what, oracle, each) in CASES.items():
        name = test.rpartition("::")[2]
        lines.append(f"| {what} | {oracle} | {each * whole[name]} | {each * same[name]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
