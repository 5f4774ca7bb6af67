"""CAN, 1-Wire, SWD and USB: 100 million samples in memory to tables, against libsigrokdecode in CPU seconds."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.serial import can_encode, onewire_encode, swd_encode, usb_encode
from freezeframe.decoders.serial.can import CAN
from freezeframe.decoders.serial.onewire import ONEWIRE
from freezeframe.decoders.serial.swd import SWD
from freezeframe.decoders.serial.usb import USB
from tests.bench.bench_serial import RATE_HZ, Case, measure
from tests.bench.common import BenchResult, main


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results = []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for case in _CASES:
            results += measure(case, Path(folder))
    return results


def _can_bus(samples: int) -> Edges:
    """Frames of 8 octets as close as they may be, 16 samples a bit."""
    rng = random.Random(7)
    frames = [
        can_encode.CanFrame(rng.randrange(1 << 29), rng.randbytes(8), extended=True)
        for _ in range(samples // (16 * 150))
    ]
    return can_encode.encode_frames(
        frames, samplerate_hz=RATE_HZ, nominal_bitrate=RATE_HZ // 16, idle_bits=3
    )


def _can_values(tables: dict[str, Any]) -> list[str]:
    return [
        f"Data byte {place}: {octet:#04x}"
        for data in tables["can"]["data"].to_pylist()
        for place, octet in enumerate(data)
    ]


def _onewire_bus(samples: int) -> Edges:
    """Writes of 32 octets without a pause; as if at 1 Msample/s, which is what such a bus is sampled at."""
    rng = random.Random(8)
    events: list[str | int] = []
    for _ in range(samples // (1_000 + 34 * 8 * 70)):
        events += ["reset", *onewire_encode.octet_bits([0xCC, *rng.randbytes(33)])]
    return onewire_encode.encode_onewire(events, samplerate_hz=1_000_000)


def _onewire_values(tables: dict[str, Any]) -> list[str]:
    said = {
        "reset": lambda row: f"Reset/presence: {str(row['present']).lower()}",
        "command": lambda row: f"ROM command: {row['value']:#04x} '{row['name']}'",
        "data": lambda row: f"Data: {row['value']:#04x}",
    }
    return [said[row["kind"]](row) for row in tables["onewire.bytes"].to_pylist()]


def _swd_bus(samples: int) -> Edges:
    """Transfers without a pause, the clock at a quarter of the sample rate."""
    rng = random.Random(9)
    sent = [
        swd_encode.SwdTransfer(True, rng.random() < 0.5, 12, rng.getrandbits(32))
        for _ in range(samples // (49 * 4))
    ]
    return swd_encode.encode_swd(sent, samplerate_hz=RATE_HZ, half_period_samples=2)


def _swd_values(tables: dict[str, Any]) -> list[str]:
    return [f"{value:#010x}" for value in tables["swd"]["data"].to_pylist()]


def _usb_bus(samples: int) -> Edges:
    """Full speed, transactions of 64 octets in the capture's 8.3 samples a bit."""
    rng = random.Random(10)
    sent: list[str] = []
    for n in range(samples // 5_500):
        toggle = ("DATA0", "DATA1")[n & 1]
        sent += [
            usb_encode.token("IN", 5, 1),
            usb_encode.data(toggle, rng.randbytes(64)),
            usb_encode.handshake("ACK"),
        ]
    return usb_encode.encode_usb(sent, samplerate_hz=RATE_HZ)


def _usb_values(tables: dict[str, Any]) -> list[str]:
    rows = tables["usb.transfers"].to_pylist()
    return [
        f"BULK in: [{''.join(f' {octet:02X}' for octet in row['data'])} ] : ACK" for row in rows
    ]


_CASES: Sequence[Case] = (
    Case(
        "CAN, saturated, 16 samples a bit",
        CAN,
        _can_bus,
        f"can:can_rx=CAN_RX:nominal_bitrate={RATE_HZ // 16}",
        "can=data",
        "can=warnings",
        _can_values,
        100.0,
        options={"nominal_bitrate": RATE_HZ // 16, "fast_bitrate": RATE_HZ // 16},
    ),
    Case(
        "1-Wire, saturated, 1 Msample/s",
        ONEWIRE,
        _onewire_bus,
        "onewire_link:owr=OWR,onewire_network",
        "onewire_network",
        "onewire_link=warnings",
        _onewire_values,
        100.0,
    ),
    Case(
        "SWD, clock at a quarter of the sample rate",
        SWD,
        _swd_bus,
        "swd:swclk=SWCLK:swdio=SWDIO",
        "swd=data",
        "swd=parity",
        _swd_values,
        100.0,
    ),
    Case(
        "USB full speed, saturated, to transfers",
        USB,
        _usb_bus,
        "usb_signalling:dp=DP:dm=DM,usb_packet,usb_request",
        "usb_request=request-bulk-read",
        "usb_request=errors",
        _usb_values,
        100.0,
    ),
)


if __name__ == "__main__":
    main(run)
