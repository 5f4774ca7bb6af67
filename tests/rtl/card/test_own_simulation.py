"""A bench of one's own serves the registers of its design: every way to the pins, in C++ and under cocotb."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.targets.base import open_target
from tests.capture.targets.serve_fake import python_module
from tests.gui.cli import run_inside
from tests.processes import run_program
from tests.rtl.card.test_card_device import SIMULATION, told, written
from tests.rtl.simulation import REPOSITORY, tool

CARD = """schema = 1
[card]
name = "own"
[clock.sys]
hz = 100_000_000
registers = true
[format.words]
is = "raw"
[tap.rx]
kind = "axi-stream"
clock = "sys"
bits = 32
format = "words"
depth = 256
[transport]
bus = "{bus}"
"""
HOSTILE = (b"", b"\0" * 7, b"Noise", bytes.fromhex("4e6f1044000000000f0f00ff"), b"\xff" * 1400)


def built(bus: str, folder: Path) -> str:
    """Write the device of CARD with a bus; return the name of its top."""
    folder.mkdir(exist_ok=True)
    (folder / "own.toml").write_text(CARD.format(bus=bus))
    return written(folder / "own.toml", folder)[1]


@contextmanager
def verilated(bus: str, folder: Path) -> Iterator[str]:
    program = folder / "obj" / "bench"
    if not program.exists():
        _verilate(bus, folder)
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        try:
            yield run.stdout.readline().strip()
        finally:
            run.kill()


def _verilate(bus: str, folder: Path) -> None:
    top = built(bus, folder)
    bench = Path(__file__).with_name("bench_bus.cpp")
    flags = (
        f"-O1 -std=c++17 -Wall -Wextra -Werror -I{SIMULATION} -D{bus.upper().replace('4-', '_')}"
    )
    command = [
        tool("verilator"),
        "--cc",
        "--exe",
        "--build",
        "-O3",
        "--prefix",
        "Vtop",
        "--top-module",
        top,
    ]
    command += ["-GUART_CYCLES=8"] if bus == "uartbone" else []
    command += ["-CFLAGS", flags, "-Mdir", "obj", "-o", "bench", "-f", f"{top}.f"]
    done = run_program([*command, bench, SIMULATION / "etherbone.cpp"], cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr


RUN_COCOTB = """
import sys
from pathlib import Path
from cocotb_tools.runner import get_runner
top, bus = sys.argv[1:]
runner = get_runner("icarus")
runner.build(sources=[Path(line) for line in Path(top + ".f").read_text().split()], hdl_toplevel=top,
             build_args=["-g2005"], build_dir="sim", timescale=("1ns", "1ps"))
runner.test(hdl_toplevel=top, hdl_toplevel_lang="verilog", test_module="tests.rtl.card.cocotb_own", build_dir="sim",
            test_dir=".", extra_env={"FF_BUS": bus, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
"""


@contextmanager
def under_cocotb(bus: str, folder: Path) -> Iterator[str]:
    tool("iverilog")
    top = built(bus, folder)
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", RUN_COCOTB, top, bus],
            cwd=folder,
            stdout=log,
            stderr=log,
            env=os.environ | {"PYTHONPATH": f"{REPOSITORY / 'src'}:{REPOSITORY}"},
        ) as run,
    ):
        try:
            for _ in range(600):
                if (folder / "url").exists() and (folder / "url").read_text():
                    break
                assert run.poll() is None, (folder / "log").read_text()[-4000:]
                time.sleep(0.1)
            yield (folder / "url").read_text()
        finally:
            (folder / "stop").touch()
            run.wait(60)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the benches, so that each is built once."""
    return tmp_path_factory.mktemp("own")


@pytest.mark.parametrize(
    ("bench", "bus"),
    [(verilated, "wishbone"), (verilated, "uartbone"), (under_cocotb, "axi4-lite"),
     (under_cocotb, "wishbone")], ids=lambda value: getattr(value, "__name__", value),
)  # fmt: skip
def test_a_running_simulation_is_armed_frozen_and_pulled_over_udp(
    bench: Any, bus: str, places: Path, tmp_path: Path
) -> None:
    with bench(bus, places / f"{bus}-{bench.__name__}") as url:
        address = ("127.0.0.1", int(url.partition("?")[0].rpartition(":")[2]))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for packet in HOSTILE:
                stranger.sendto(packet, address)
        target = open_target(url)
        assert target.read([0, 0x00FF_FFF0]).tolist()[1] == 0xFFFFFFFF  # an error answer
        target.close()
        assert "own" in told(run_inside("targets", url))
        told(run_inside("arm", url, "--discard"))
        capture = tmp_path / "own.ff"
        assert "verified" in told(run_inside("pull", url, "--freeze", "-o", str(capture)))
    assert "#20 " in told(run_inside("decode", str(capture)))  # of the packets, and more


def test_the_litex_server_reads_the_same_simulation_beside_us(places: Path) -> None:
    pytest.importorskip("litex", reason="LiteX comes with the extra 'peers'")
    with verilated("wishbone", places / "wishbone-verilated") as url:
        host, port = url.removeprefix("etherbone://").split(":")
        with python_module("tests.peers.serve_litex", host, port) as litex_url:
            theirs = told(run_inside("status", litex_url, "--json"))
            ours = told(run_inside("status", url, "--json"))
    devices = [json.loads(text)["devices"] for text in (ours, theirs)]
    assert devices[1][0]["boot_nonce"] == "0x00000007"
    for device in (*devices[0], *devices[1]):
        assert device["card"].pop("from").endswith(": device 0 at 0x00000000, ROM")
    assert devices[0] == devices[1]
