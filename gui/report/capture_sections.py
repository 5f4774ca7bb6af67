"""The parts of the report on the capture itself: devices, state at freeze, integrity, commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from freezeframe.capture.folder import CaptureFolder, DeviceCapture
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.history import history_lines
from freezeframe.capture.registers.layouts import MACHINE_STATE_NAMES
from freezeframe.gui.report.html import Html, element, join, table
from freezeframe.gui.report.page_parts import again_section
from freezeframe.gui.text import folder_name, shell_path, shell_word

Device = TypeVar("Device", bound=DeviceCapture | CardCapture)


def devices_section(capture: CaptureFolder) -> Html:
    """Return who recorded: identity, clocks and sizes of every device, one column each."""
    heading = element("h2", "Devices", id="devices")
    return join(heading, beside_each_other(capture, capture.devices, _identity))


def beside_each_other(
    capture: CaptureFolder | CardFolder,
    devices: Sequence[Device],
    identity: Callable[[Device, dict[str, Any]], dict[str, str]],
) -> Html:
    """Return what identifies each of some devices as a table with a column for each."""
    entries = {entry["name"]: entry for entry in capture.manifest["devices"]}
    columns = [identity(device, entries[device.name]) for device in devices]
    body = [[label, *(column[label] for column in columns)] for label in columns[0]]
    return table("", ["what", *(f"device {device.name}" for device in devices)], body)


def state_section(capture: CaptureFolder) -> Html:
    """Return what the cards were doing at the freeze: machines, FIFO levels, flows, counters."""
    headers = ["what", *(f"device {d.name}" for d in capture.devices)]
    body: list[list[str]] = []
    first = capture.devices[0]
    for number, machine in enumerate(first.found.card.said.states):
        states = [d.registers.value("frozen.machine", number) for d in capture.devices]
        body.append([f"state machine {machine}", *map(_machine_state, states)])
    for label, register in (
        ("words in the outgoing FIFO", f"frozen.{first.roles.tx.level}"),
        ("words in the incoming FIFO", f"frozen.{first.roles.rx.level}"),
        ("words the transmit DMA had to fetch", "frozen.dma_remaining"),
        ("descriptors waiting", "frozen.descriptors_waiting"),
        ("completions waiting", "frozen.completions_waiting"),
        ("next sequence number out", "frozen.next_seq_out"),
        ("next sequence number in", "frozen.next_seq_in"),
    ):
        body.append([label, *(count_text(d.registers.value(register)) for d in capture.devices)])
    counters = {d.name: d.registers.counters() for d in capture.devices}
    names = list(dict.fromkeys(name for of in counters.values() for name in of))
    used = [n for n in names if any(of.get(n) for of in counters.values())]
    docs = {name: c.doc for d in capture.devices for name, c in d.found.card.counters}
    counter_rows = [
        [n, *(count_text(counters[d.name].get(n)) for d in capture.devices), docs[n]] for n in used
    ]
    flows = [row for d in capture.devices for row in _flow_rows(d)]
    numbers = range(1, len(headers))
    return join(
        element("h2", "At the freeze", id="freeze"),
        element(
            "div",
            table("Where the cards stood", headers, body, numbers=numbers),
            table(
                "Credit state of the flows that carried words (counts in words, wrapping)",
                ("device", "flow", "sent", "credited", "limit", "received", "freed", "reported"),
                flows,
                numbers=range(1, 8),
            )
            if flows
            else Html(""),
            css="beside",
        ),
        table(
            "Counters that are not 0",
            ["counter", *headers[1:], "meaning"],
            counter_rows,
            numbers=numbers,
        )
        if counter_rows
        else Html(""),
    )


def integrity_section(capture: CaptureFolder | CardFolder) -> Html:
    """Return why the capture can be trusted, what it does not hold, and the hashes of its files."""
    return join(
        element("h2", "Integrity of the capture", id="integrity"),
        losses_text(capture.lost),
        _memories(capture) if isinstance(capture, CaptureFolder) else Html(""),
        _evidence_files(capture.manifest),
    )


def _memories(capture: CaptureFolder) -> Html:
    rows = [
        (
            f"{entry['name']}.{name}",
            count_text(memory["records"]),
            count_text(memory["stored"]),
            count_text(memory["lost"]),
            f"{memory['chunks_verified']} of {memory['chunks']}",
            ", ".join(f"{g['first_slot']}+{g['slots']}: {g['reason']}" for g in memory["gaps"])
            or "none",
        )
        for entry in capture.manifest["devices"]
        for name, memory in entry["memories"].items()
    ]
    return table(
        "Trace memories; chunks were checked against the CRC-32 that the device computed",
        ("memory", "slots", "stored since arm", "lost by the device", "chunks verified", "gaps"),
        rows,
        numbers=(1, 2, 3, 4),
    )


def losses_text(lost: Sequence[str]) -> Html:
    """Return what is missing from a capture, or that nothing is."""
    if not lost:
        return element(
            "p", "Nothing was lost: every recorded word and event was read and verified."
        )
    return join(
        element("p", "This is not in the capture:"),
        element("ul", *(element("li", line) for line in lost)),
    )


def _evidence_files(manifest: dict[str, Any]) -> Html:
    """Return the files of a capture with their hashes, and where it came from."""
    files = [
        (name, count_text(entry["bytes"]), element("span", entry["sha256"], css="hex"))
        for name, entry in manifest["raw"].items()
    ]
    dates = history_lines(manifest.get("history", []))
    return join(
        element("ul", *(element("li", line) for line in dates)) if dates else Html(""),
        table("Files of the evidence", ("file", "bytes", "SHA-256"), files, numbers=(1,)),
        element(
            "p",
            "Pulled by ",
            value_text(manifest.get("tool")),
            " from ",
            element("code", value_text(manifest.get("source"))),
            "; digest of the manifest ",
            element("span", value_text(manifest.get("digest")), css="hex"),
            ".",
        ),
    )


def commands_section(capture: CaptureFolder | CardFolder) -> Html:
    """Return the commands that give the same answer again."""
    name = shell_path(folder_name(capture.path))
    decoded = f"freezeframe decode {name} -d trace -o events.parquet"
    if isinstance(capture, CardFolder):
        decoded = f"freezeframe export {name} --to pcapng -o packets.pcapng   # for Wireshark"
    source = capture.manifest.get("source")
    lines = [
        f"freezeframe explain {name}          # this explanation as text",
        f"freezeframe explain {name} --json   # for a machine",
        f"freezeframe report {name} -o report.html",
        f"freezeframe analyze {name} all    # every figure and note of the analyses",
        f"freezeframe open {name}           # in a window, with every record",
        decoded,
    ]
    if isinstance(source, str):
        lines.append(
            f"freezeframe pull {shell_word(source)} -o {name}   # from the card, while it is frozen"
        )
    return again_section(lines)


def _identity(device: DeviceCapture, entry: dict[str, Any]) -> dict[str, str]:
    identity = device.identity
    return {
        "boot nonce": f"{identity.boot_nonce:#010x}",
        "generation": value_text(entry["generation"]),
        "state when pulled": value_text(entry["state"]),
        "first causes": ", ".join(entry["causes"] or ["none"]),
        "bus cycle of the first cause": count_text(entry["cause_cycle"]),
        "format version": f"{identity.format_major}.{identity.format_minor}",
        "register map": f"{identity.map_hash:08x}",
        "build": f"{identity.build_hash:08x}",
        "bus clock": f"{identity.clk_bus:,} Hz",
        "link clock": f"{identity.clk_link:,} Hz",
        "outgoing FIFO": f"{identity.tx_fifo:,} words",
        "incoming FIFO": f"{identity.rx_fifo:,} words",
        "credit unit": f"{identity.credit_unit:,} words",
        "tap memory": f"{identity.tap_depth:,} records",
        "event log": f"{identity.event_depth:,} records",
    }


def _flow_rows(device: DeviceCapture) -> list[tuple[str, ...]]:
    names = ("sent", "credited", "limit", "received", "freed", "reported")
    rows = []
    for flow in range(device.identity.flows_count):
        values = [device.registers.value(f"frozen_flow.{name}", flow) for name in names]
        used = (
            device.registers.value("frozen_flow.words_sent", flow),
            device.registers.value("frozen_flow.words_received", flow),
        )
        if any(used):
            rows.append((device.name, str(flow), *map(count_text, values)))
    return rows


def _machine_state(value: int | None) -> str:
    if value is None:
        return "not read"
    known = value < len(MACHINE_STATE_NAMES)
    return MACHINE_STATE_NAMES[value] if known else f"unknown ({value})"


def count_text(value: Any) -> str:
    """Return a count with its thousands; what is no number was not read."""
    return f"{value:,}" if isinstance(value, int) else "not read"


def value_text(value: Any) -> str:
    """Return a value; nothing was not read."""
    return "not read" if value is None else str(value)
