"""``freezeframe targets``: kinds of targets that are registered, and the devices of a target."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.capture.targets.base import target_schemes
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.cli.work.session import open_session

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
    schemes = target_schemes()
    kinds = [
        {
            "scheme": scheme,
            "form": KINDS[scheme][0] if scheme in KINDS else f"{scheme}:",
            "path": KINDS[scheme][1] if scheme in KINDS else f"registered by {schemes[scheme]}",
        }
        for scheme in sorted(schemes, key=lambda s: (list(KINDS).index(s) if s in KINDS else 99, s))
    ]
    if json:
        emit_json({"kinds": kinds})
    else:
        print(table(("target", "path"), [(kind["form"], kind["path"]) for kind in kinds]))


def list_devices(target: str, log: Path | None, *, json: bool) -> None:
    """Print the devices of a target."""
    with open_session(target, log) as devices:
        rows: list[dict[str, Any]] = [
            {
                "name": device.name,
                "index": device.index,
                "base": device.base,
                "identity": device.identity.to_json(),
            }
            for device in devices
        ]
    if json:
        emit_json({"target": target, "devices": rows})
        return
    headers = ("device", "base", "boot nonce", "bus clock", "link clock", "tap depth", "event log")
    print(
        table(
            headers,
            [
                (
                    row["name"],
                    f"{row['base']:#010x}",
                    f"{row['identity']['boot_nonce']:#010x}",
                    f"{row['identity']['clk_bus']:,} Hz",
                    f"{row['identity']['clk_link']:,} Hz",
                    f"{count_text(row['identity']['tap_depth'])} records",
                    f"{count_text(row['identity']['event_depth'])} records",
                )
                for row in rows
            ],
            right=(3, 4, 5, 6),
        )
    )
