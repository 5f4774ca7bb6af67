"""``freezeframe targets``: kinds of targets that are registered, and the devices of a target."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.registers.access import Device
from freezeframe.capture.targets.aliases import aliases
from freezeframe.capture.targets.base import target_schemes
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.cli.work.session import card_entry, open_recorders
from freezeframe.gui.text import printable

# scheme: (form, path); a scheme that another package registered is listed with its object instead
KINDS: dict[str, tuple[str, str]] = {
    "emu": (
        "emu:[?profile=forth&fault=NAME&seed=N]",
        "the emulated pair of cards, in this process",
    ),
    "etherbone": (
        "etherbone://HOST[:PORT]",
        "UDP Etherbone: the emulator as a server, a LiteX board",
    ),
    "litex": ("litex://HOST[:PORT]", "litex_server over TCP, and its USB, JTAG and PCIe bridges"),
    "uart": ("uart:/dev/ttyX[@BAUD]", "a serial line with LiteX UARTBone"),
    "pci": ("pci:0000:03:00.0[/barN]", "a PCI card in this machine, through sysfs"),
    "file": ("file:CAPTURE.ff", "replay of the registers in a capture folder"),
}


def list_kinds(*, json: bool) -> None:
    """Print every kind of target that is registered, ours in the order of `KINDS`."""
    schemes, named = target_schemes(), aliases()
    names = named.urls
    for wrong in named.wrong:
        print(f"freezeframe: {printable(named.text(wrong))}", file=sys.stderr)
    kinds = [
        {
            "scheme": scheme,
            "form": KINDS[scheme][0] if scheme in KINDS else f"{scheme}:",
            "path": KINDS[scheme][1] if scheme in KINDS else f"registered by {schemes[scheme]}",
        }
        for scheme in sorted(schemes, key=lambda s: (list(KINDS).index(s) if s in KINDS else 99, s))
    ]
    if json:
        emit_json({"kinds": kinds, "aliases": names})
        return
    print(table(("target", "path"), [(kind["form"], kind["path"]) for kind in kinds]))
    if names:
        print()
        print(table(("name", "stands for"), list(names.items())))


def list_devices(target: str, log: Path | None, *, json: bool) -> None:
    """Print the devices of a target."""
    with open_recorders(target, log) as devices:
        cards = [device for device in devices if isinstance(device, CardDevice)]
        rows: list[dict[str, Any]] = [
            {
                "name": device.name,
                "index": device.index,
                "base": device.base,
                "card": card_entry(device.found),
                "identity": device.identity.to_json(),
            }
            for device in devices
            if isinstance(device, Device | CardDevice)
        ]
    if cards:
        _list_cards(target, cards, rows, json=json)
        return
    if json:
        emit_json({"target": target, "devices": rows})
        return
    headers = (
        "device",
        "base",
        "boot nonce",
        "card",
        "bus clock",
        "link clock",
        "tap depth",
        "event log",
    )
    print(
        table(
            headers,
            [
                (
                    row["name"],
                    f"{row['base']:#010x}",
                    f"{row['identity']['boot_nonce']:#010x}",
                    f"{row['card']['name']} {row['card']['version']}",
                    f"{row['identity']['clk_bus']:,} Hz",
                    f"{row['identity']['clk_link']:,} Hz",
                    f"{count_text(row['identity']['tap_depth'])} records",
                    f"{count_text(row['identity']['event_depth'])} records",
                )
                for row in rows
            ],
            right=(4, 5, 6, 7),
        )
    )


def _list_cards(
    target: str, devices: list[CardDevice], rows: list[dict[str, Any]], *, json: bool
) -> None:
    """Print devices that are described by a card file: which card, where it came from, what was built."""
    for device, row in zip(devices, rows, strict=True):
        card = device.found.card
        row["card"] |= {
            "hash": f"{device.identity.card_hash:016x}",
            "clocks": {clock.name: clock.said.hz for clock in card.clocks},
            "taps": [tap.name for tap in card.taps],
            "features": [
                str(part.name).lower() for part in Feature if part in device.identity.built
            ],
        }
    if json:
        emit_json({"target": target, "devices": rows})
        return
    print(
        table(
            ("device", "base", "boot nonce", "card", "card hash", "clocks", "taps"),
            [
                (
                    row["name"],
                    f"{row['base']:#010x}",
                    f"{row['identity']['boot_nonce']:#010x}",
                    f"{row['card']['name']} {row['card']['version']}",
                    row["card"]["hash"],
                    ", ".join(f"{name} {hz:,} Hz" for name, hz in row["card"]["clocks"].items()),
                    ", ".join(row["card"]["taps"]),
                )
                for row in rows
            ],
        )
    )
    print()
    for row in rows:
        print(printable(f"{row['name']}: card from {row['card']['from']}"))
