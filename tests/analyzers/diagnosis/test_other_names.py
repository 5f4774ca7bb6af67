"""A card that calls its taps, counters, causes and machines otherwise is explained the same: no rule knows a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from freezeframe.analyzers.conservation.analysis_code import check_laws
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget

# Each name of the example card, and what a card of another house may call it.
TEXT = shipped_cards()["forth"].read_text("utf-8")
CARD = elaborate(parse_card(TEXT))
OTHERS = {
    **{tap.name: f"place_{tap.name[::-1]}" for tap in CARD.taps},
    **{name: f"n_{name[::-1]}" for name in CARD.said.counter},
    **{name: f"why_{name[::-1]}" for name in CARD.said.cause},
    **{name: f"fsm_{name[::-1]}" for name in CARD.said.states},
}  # fmt: skip
FAULTS = (
    "word-omitted",
    "credit-corrupted",
    "header-miscounted",
)  # a FIFO, the link back, the books
LIMIT_PS = 40_000_000_000
SETTLE_PS = 2_000_000_000


def renamed_card() -> str:
    """Return forth.toml with every tap, counter, cause and state machine under another name."""
    lines = []
    table = ""
    for line in TEXT.splitlines():
        header = re.match(r"\[+(\w+)(?:\.(\w+))?", line)
        table = header[1] if header is not None else table
        lines.append(_renamed(table, header is not None, line))
    return "\n".join(lines) + "\n"


def _renamed(table: str, header: bool, line: str) -> str:
    if table == "tap" and header:
        return re.sub(r"(?<=\[tap\.)\w+", lambda m: OTHERS[m[0]], line)
    if table in ("counter", "cause", "states"):
        name, equals, rest = line.partition(" = ")  # a wire is the map's, and stays
        return f"{OTHERS.get(name, name)}{equals}{_tap(rest)}"
    if table == "law" and line.startswith(("plus", "minus")):
        return re.sub(r'(?<=")((?:peer\.)?)(\w+)(?=")', _term, line)
    if table in ("path", "histogram"):
        return re.sub(r'(?<=")\w+(?=")', lambda m: OTHERS.get(m[0], m[0]), line)
    return line


def _tap(text: str) -> str:
    return re.sub(r'tap = "(\w+)"', lambda m: f'tap = "{OTHERS[m[1]]}"', text)


def _term(match: re.Match[str]) -> str:
    return match[1] + (OTHERS[match[2]] if match[2] in CARD.said.counter else match[2])


def said(text: str) -> str:
    """Return a text of the renamed card in the names of the example card."""
    shown = {
        other.replace("_", "-") if name in CARD.said.cause else other: (
            name.replace("_", "-") if name in CARD.said.cause else name
        )
        for name, other in OTHERS.items()
    }
    for other in sorted(shown, key=len, reverse=True):
        text = text.replace(other, shown[other])
    return text


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("card") / "other.toml"
    path.write_text(renamed_card())
    return path


@pytest.fixture(params=FAULTS)
def captures(
    request: pytest.FixtureRequest, card: Path, tmp_path: Path
) -> Iterator[tuple[CaptureFolder, CaptureFolder]]:
    """One freeze, pulled twice: as the card that ships, and as the one of another house."""
    emulator = EmulatorTarget("forth", request.param, 5150, None, load="medium", access_ps=0)
    assert emulator.run_until_evident(LIMIT_PS)
    for device in open_devices(emulator):
        freeze(device)
    emulator.advance(SETTLE_PS)
    pull(emulator, tmp_path / "forth.ff")
    pull(emulator, tmp_path / "other.ff", card=card)
    yield CaptureFolder.open(tmp_path / "forth.ff"), CaptureFolder.open(tmp_path / "other.ff")


def test_no_name_of_the_example_card_is_left_in_the_renamed_file(card: Path) -> None:
    other = elaborate(parse_card(card.read_text()))
    names = {*other.said.tap, *other.said.counter, *other.said.cause, *other.said.states}
    assert not names & {*CARD.said.tap, *CARD.said.counter, *CARD.said.cause, *CARD.said.states}


def test_the_same_is_found_and_said_of_it_under_its_own_names(
    captures: tuple[CaptureFolder, CaptureFolder],
) -> None:
    forth, other = captures
    assert other.devices[0].found.card.name == "forth"
    assert set(other.devices[0].memories) == {OTHERS.get(m, m) for m in forth.devices[0].memories}
    of_forth, of_other = explain(forth), explain(other)
    assert of_forth.findings
    assert [said(str(f.to_json())) for f in of_other.findings] == [
        str(f.to_json()) for f in of_forth.findings
    ]
    assert [said(f.place) for f in of_other.findings] == [f.place for f in of_forth.findings]
    assert [said(note) for note in of_other.notes] == of_forth.notes
    laws = [[c.to_json() for c in check_laws(CaptureView(each))] for each in (forth, other)]
    assert [said(str(law)) for law in laws[1]] == [str(law) for law in laws[0]]
