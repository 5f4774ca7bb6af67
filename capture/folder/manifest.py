"""``manifest.json``: what a capture folder says of itself, and its canonical form and digest.

Source: docs/formats.md, section 7. The digest guards against accident, not against an author.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.folder.content import CHUNK_RECORDS, DeviceCapture, Gap, MemoryImage
from freezeframe.capture.registers.layouts import (
    DOMAIN_NAMES,
    STATE_NAMES,
    Domain,
)

MANIFEST = "manifest.json"
MANIFEST_COPY = "manifest.copy.json"
"""The same bytes once more: without a manifest nothing of a capture could be read."""
FORMAT_NAME = "freezeframe-capture"
FORMAT_VERSION = (2, 0)
OLD_VERSIONS = (
    (1, 0),
    (1, 1),
)  # of map 1; 1.1: several targets, pairs of instants, traces of the host
SAMPLES_NAME = "freezeframe-samples"
SAMPLES_VERSION = (1, 0)

Json = dict[str, Any]


SALVAGE = "freezeframe verify lists all damage, and --salvage reads the rest"


def has_manifest(folder: Path) -> bool:
    """Return whether a folder is that of a capture, also where one of its two manifests is gone."""
    return any((folder / name).is_file() for name in (MANIFEST, MANIFEST_COPY))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of ``data`` as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_json(value: Any) -> bytes:
    """Return the one form in which a value is digested: keys sorted, no spaces, ASCII.

    Raises:
        ValueError: not-a-number or infinity, which JSON does not know.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def manifest_digest(manifest: Json) -> str:
    """Return the SHA-256 over the canonical JSON of everything but ``digest``."""
    return sha256(canonical_json({k: v for k, v in manifest.items() if k != "digest"}))


def manifest_text(manifest: Json) -> bytes:
    """Return the file's bytes: indented for people, keys in the order they were put in."""
    return (json.dumps(manifest, indent=1, allow_nan=False) + "\n").encode()


def device_entry(device: DeviceCapture) -> Json:
    """Return what the manifest says of one device; None stands for a register that was not read."""
    registers, identity = device.registers, device.identity
    causes = registers.value("ctl.causes")
    state = registers.field("ctl.state", "state")
    return {
        "name": device.name,
        "index": device.index,
        "card": f"{device.found.card.hash:016x}",
        **({"target": device.target} if device.target else {}),
        "base": f"{device.base:#010x}",
        "identity": identity.to_json(),
        "boot_nonce": f"{identity.boot_nonce:#010x}",
        "generation": registers.value("ctl.generation"),
        "state": None if state is None else STATE_NAMES[state],
        "causes": None if causes is None else device.found.card.cause_names(causes),
        "cause_cycle": registers.value64("ctl.cause_cycle_"),
        "clocks": _clocks(device),
        "memories": {
            name: _memory_entry(device, memory) for name, memory in device.memories.items()
        },
        "samples": _samples_entry(device),
        "registers": {
            "file": registers_file(device.name),
            "count": len(registers),
            "not_read": list(device.not_read),
        },
    }


def what_was_lost(device: DeviceCapture) -> list[str]:
    """Return one line for each thing that is not in the capture: not read, or not recorded."""
    lines = []
    for name, memory in device.memories.items():
        lines += [_gap_line(f"{device.name}.{name}", "slots", gap) for gap in memory.gaps]
    lines += [_gap_line(f"{device.name}.samples", "samples", gap) for gap in device.sample_gaps]
    if device.not_read:
        names = ", ".join(device.not_read[:8]) + (", ..." if len(device.not_read) > 8 else "")
        lines.append(f"{device.name}: {len(device.not_read)} registers could not be read: {names}")
    for memory_index, memory_name in enumerate(device.roles.memories):
        lost = device.registers.value("memory.lost", memory_index)
        if lost:
            lines.append(
                f"{device.name}.{memory_name}: the device itself could not record {lost} "
                "of what it was offered"
            )
    return lines


def memory_file(device: str, memory: str) -> str:
    """Return the path of a trace memory's file inside the folder."""
    return f"raw/{device}.{memory}.rec"


def samples_file(device: str) -> str:
    """Return the path of the sampler's file inside the folder."""
    return f"raw/{device}.samples.bin"


def host_file(number: int) -> str:
    """Return the path of a trace of the host inside the folder."""
    return f"raw/host.{number}.txt"


def registers_file(device: str) -> str:
    """Return the path of the register image's file inside the folder."""
    return f"raw/{device}.registers.bin"


def _gap_line(where: str, unit: str, gap: Gap) -> str:
    last = gap.first_slot + gap.slots - 1
    return f"{where}: {unit} {gap.first_slot}..{last} ({gap.slots}) could not be read: {gap.reason}"


def _gaps(gaps: Sequence[Gap]) -> list[Json]:
    return [gap._asdict() for gap in gaps]


def _memory_entry(device: DeviceCapture, memory: MemoryImage) -> Json:
    index = device.roles.memories.index(memory.name)
    verified, chunks = memory.verified_chunks(device.identity.chunk or CHUNK_RECORDS)
    return {
        "file": memory_file(device.name, memory.name),
        "records": len(memory.records),
        "write_ptr": int(memory.write_ptr),
        "wrapped": bool(memory.wrapped),
        "stored": device.registers.value("memory.stored", index),
        "offered": device.registers.value("memory.offered", index),
        "lost": device.registers.value("memory.lost", index),
        "chunks": chunks,
        "chunks_verified": verified,
        "gaps": _gaps(memory.gaps),
    }


def _samples_entry(device: DeviceCapture) -> Json | None:
    if device.samples is None:
        return None
    return {
        "file": samples_file(device.name),
        "slots": len(device.samples),
        "period_cycles": device.registers.value("ctl.sample_period"),
        "write_ptr": device.registers.value("sampler.write_ptr"),
        "wrapped": device.registers.field("sampler.status", "wrapped"),
        "gaps": _gaps(device.sample_gaps),
    }


def _clocks(device: DeviceCapture) -> Json:
    identity, registers = device.identity, device.registers
    clocks: Json = {}
    for domain, clk_hz in ((Domain.BUS, identity.clk_bus), (Domain.LINK, identity.clk_link)):
        pairs = {}
        for which in ("first", "last"):
            valid = registers.field("pair.status", f"{which}_valid", domain)
            number = registers.value(f"pair.{which}_number", domain)
            cycle = registers.value64(f"pair.{which}_", domain)
            stands = valid and number is not None and cycle is not None
            pairs[which] = {"number": number, "cycle": cycle} if stands else None
        clocks[DOMAIN_NAMES[domain]] = {
            "clk_hz": clk_hz,
            "master": bool(identity.devices_time_master) and domain is Domain.BUS,
            **pairs,
        }
    return clocks
