"""The PCI-SCI bridge's latency and bandwidth beside profile ``pci-sci``.

Source: M. Trams, W. Rehm, "SCI Transaction Management in our FPGA-based PCI-SCI Bridge", section IV, figures 7 and 8. MB is 2^20 bytes.
"""

from __future__ import annotations

from typing import Any

from freezeframe.analyzers.card.phases import ways_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.emulator.sci.record import run_bridge
from freezeframe.gui.cli.work.reproduction_stages import Bench, Row

_CYCLE_NS = 30
_STREAM: dict[str, Any] = {"flow.writes.outstanding": 64, "size_B": 64}
FREE: dict[str, float | str] = {"epu_cycles": "pci-sci", "control_cycles": "pci-sci"}
"""Parameters of the fit: their values, or the profile that has them."""
_CYCLES = tuple(FREE)


def _latency_us(bench: Bench, **settings: Any) -> float:
    return bench.run("pci-sci", **settings).latency_ns()["p50"] / 1000


def _recorded_cycles(bench: Bench) -> float:
    """Return the cycles of a remote write by the events of the bridge's own capture."""
    settings = {key: value for key, value in bench.settings.items() if key != "cycle_ns"}
    recording = run_bridge("pci-sci", workload="single-4B", settings=settings).recording
    ((_, found),) = ways_of(CardView.of(recording))
    return found.whole.mean_ps / 1000 / _CYCLE_NS if found.whole is not None else 0.0


def _saved_cycles(bench: Bench, **settings: Any) -> float:
    return (_latency_us(bench) - _latency_us(bench, **settings)) * 1000 / _CYCLE_NS


def stream_MBps(bench: Bench, **settings: Any) -> float:
    """Return the bandwidth of blocks of 64 bytes back to back."""
    return (
        bench.run("pci-sci", **_STREAM, messages=4000, **settings).throughput_MBps * 1e6 / (1 << 20)
    )


def block_MBps(bench: Bench, size_B: int) -> float:
    """Return the bandwidth of ping-pong blocks: a block by the time until the last of it is there."""
    return size_B / _latency_us(bench, size_B=size_B, messages=20) * 1e6 / (1 << 20)


ROWS: tuple[Row, ...] = (
    Row("cycles", "fig. 7: remote write of one word", (89, 89), "cycles", "fit",
        lambda bench: _latency_us(bench) * 1000 / _CYCLE_NS, "phases A to J; of B, C and G (37 together) the EPU's part is free", fitted=_CYCLES),
    Row("recorded", "the same, from the capture of the bridge", (89, 89), "cycles", "fit", _recorded_cycles,
        "the bridge down to its cycles in loop-back; sum of its phases by the event log", fitted=_CYCLES),
    Row("latency", "the same in time", (2.67, 2.67), "us", "fit", _latency_us, "33 MHz", fitted=_CYCLES),
    Row("software", "software latency: slightly more than 3 us", (3.0, 3.3), "us", "read back", lambda bench: _latency_us(bench, software_us=0.4),
        "a few tenths of the hosts, 0.4 here"),
    Row("bandwidth", "bandwidth at 16 cycles for 64 B", (127, 127), "MB/s", "emerges", stream_MBps,
        "the longest stage: the PCI master's 7 cycles, an address, 8 words"),
    Row("bandwidth-better", "bandwidth at 13-14 cycles for 64 B: around 150", (150, 150), "MB/s", "read back",
        lambda bench: stream_MBps(bench, master_cycles=4.5), "a master that prepares in 4.5 cycles; then the EPU is next", about=True),
    Row("measured", "fig. 8: measured peak of writes", (116, 116), "MB/s", "emerges", stream_MBps,
        "the chipset does not always make whole bursts (paper); here it does", about=True),
    Row("ping-pong-8k", "fig. 8: ping-pong of 8 KB blocks", (116, 116), "MB/s", "emerges", lambda bench: block_MBps(bench, 8192),
        "128 packets behind each other, and the latency once", about=True),
    Row("no-bridge", "without the PCI-PCI bridge: cycles saved", (13, 13), "cycles", "emerges", lambda bench: _saved_cycles(bench, bridge=0),
        "phases A (5) and I (8)"),
    Row("one-fpga", "all in one FPGA: cycles saved", (10, 15), "cycles", "fit", lambda bench: _saved_cycles(bench, two_fpgas=0),
        "no queue and flag between the two: E, F, half of C", fitted=_CYCLES),
)  # fmt: skip
