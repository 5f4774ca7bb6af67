"""The recording of a card that is described by a file: explained, decoded and held to its laws, printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.analyzers.card.beside import laws_of
from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.laws import LawVerdict
from freezeframe.analyzers.card.view import CardsView
from freezeframe.capture.count_text import plural
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.history import history_lines
from freezeframe.capture.stand_ins import given
from freezeframe.decoders.tap.tables import packet_tables, packet_text
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.explanation_text import bulleted, finding_text, printable_lines
from freezeframe.gui.cli.output import emit_json, table
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.captures import card_folder
from freezeframe.gui.cli.work.events import print_json, print_text
from freezeframe.gui.cli.work.reading import refuse_on_recording
from freezeframe.gui.cli.work.save_tables import save_all
from freezeframe.gui.export.place import check_output
from freezeframe.gui.text import folder_name, printable


def show_card_explanation(folder: CardFolder, devices: Sequence[str] | None, *, json: bool) -> bool:
    """Explain each card of a capture and print it; return whether there are findings."""
    with compile_notice():
        explained = _explained(folder, devices)
    if json:
        emit_json(_document(folder, explained))
    else:
        parts = [_explanation_text(folder, *each) for each in explained]
        if folder.lost:
            parts.append("\n".join(bulleted("Not in the capture", folder.lost)))
        parts += bulleted("When, and who", history_lines(folder.manifest.get("history", [])))
        print("\n\n".join(parts))
    return any(explanation.findings for _, explanation in explained)


def show_card_laws(folder: CardFolder, *, everything: bool, json: bool) -> bool:
    """Check the laws of each card and print which are broken; return whether none is."""
    recordings = [device.recording() for device in folder.devices]
    checked = [(device, laws_of(recordings, n)) for n, device in enumerate(folder.devices)]
    broken = sum(law.holds is False for _, laws in checked for law in laws)
    if json:
        emit_json(
            {
                "devices": [
                    {"device": device.name, "laws": [_law(law) for law in laws]}
                    for device, laws in checked
                ]
            }
        )
        return not broken
    held = sum(law.holds is True for _, laws in checked for law in laws)
    unasked = sum(law.holds is None for _, laws in checked for law in laws)
    print(
        f"{printable(folder_name(folder.path))}: {plural(broken, 'law')} broken, {held} hold, "
        f"{unasked} not checkable"
    )
    for device, laws in checked:
        rows = [
            (_STATES[law.holds], printable(law.text))
            for law in laws
            if everything or law.holds is not True
        ]
        if rows:
            print(f"\n{device.name}, {device.card.name}:")
            print(table(("state", "law"), rows))
    return not broken


def decode_if_card(
    capture: Path, reading: Reading, output: Path | None, *, force: bool, json: bool
) -> bool:
    """Print or write the packets of every tap; return False where the capture is not of cards described by a file.

    Raises:
        CaptureFormatError: it says that it is one, and is not as it was written.
        InputError: an option for samples is given, or the place is taken.
    """
    folder = card_folder(capture)
    if folder is None:
        return False
    refuse_on_recording(folder.path, reading)
    if output is not None:
        check_output(output, folder.path, force=True)
    with compile_notice():
        decoded = packet_tables(folder)
    if output is not None:
        for path, (name, rows) in zip(
            save_all(decoded, output, folder.path, force=force), decoded, strict=True
        ):
            if not json:
                print(f"{printable(path)}: {printable(name)}, {plural(len(rows), 'row')}")
    if json:
        print_json(given(folder.path), decoded)
    elif output is None:
        print_text(decoded, words=packet_text)
    return True


_STATES = {True: "holds", False: "broken", None: "not checkable"}


def _chosen(folder: CardFolder, devices: Sequence[str] | None) -> list[CardCapture]:
    return [folder.device(name) for name in devices] if devices else folder.devices


def _explained(
    folder: CardFolder, devices: Sequence[str] | None
) -> list[tuple[CardCapture, CardExplanation]]:
    cards = CardsView(folder, devices).cards
    return list(zip(_chosen(folder, devices), map(explain_card, cards), strict=True))


def _document(
    folder: CardFolder, explained: Sequence[tuple[CardCapture, CardExplanation]]
) -> dict[str, Any]:
    documents = [
        {"device": device.name, "card": _card(device), **explanation.to_json()}
        for device, explanation in explained
    ]
    return {
        "capture": str(given(folder.path)),
        "devices": documents,
        "lost": folder.lost,
        "history": folder.manifest.get("history", []),
    }


def _card(device: CardCapture) -> dict[str, str]:
    return {"name": device.card.name, "hash": f"{device.identity.card_hash:016x}"}


def _law(law: LawVerdict) -> dict[str, Any]:
    return {"name": law.law.name, "value": law.value, "holds": law.holds, "text": law.text}


def _explanation_text(folder: CardFolder, device: CardCapture, found: CardExplanation) -> str:
    recording = device.recording()
    causes = ", ".join(recording.cause_names)
    frozen = f"frozen by {causes}" if causes else "not frozen"
    parts = [
        f"{printable(folder_name(folder.path))}, {device.name} ({device.card.name}): {found.answer}, {frozen}"
    ]
    parts += bulleted("What fired", [part.text for part in found.fired])
    parts += [finding_text(finding, counted=False) for finding in found.findings]
    parts += bulleted("What the card logged up to its cause", found.logged)
    parts += bulleted("Histograms since the arm", found.histograms)
    if not found.findings:
        parts += bulleted("Looked at", found.looked_at)
        parts += bulleted("Not looked at", found.not_seen)
    parts += bulleted("What could not be asked", found.not_asked)
    parts += bulleted("Limits of this answer", found.notes)
    parts += bulleted(
        "Laws that are broken", [law.text for law in found.laws if law.holds is False]
    )
    return "\n\n".join(printable_lines(part) for part in parts)
