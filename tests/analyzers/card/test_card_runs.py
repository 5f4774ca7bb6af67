"""Two captures of one card: what differs between them, and captures that cannot be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.analyzers.run_diff.compare import RunDiff, TapInRuns
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import SERVED, CardImage
from tests.analyzers.card.test_card_analyses import every, frames, recording
from tests.gui.cli import run_inside

_COUNTS = "".join(f'[counter.{t}_packets]\ncounts = "packets"\ntap = "{t}"\n' for t in "ab")
_CAUSE = '[cause.bad]\ncheck = "fcs"\ntap = "a"\n'


def captured(
    place: Path, sent: Sequence[bytes], came: Sequence[bytes], *, causes: int = 1, counts: tuple[int, int] = (90, 90),
    fifo: int = 40, begin: int = 100, more: str = "",
) -> Path:  # fmt: skip
    """Pull a card with these packets at its two taps."""
    made = recording(
        every(20, sent, begin, 8), every(20, came, begin + fifo, 8), more=_COUNTS + _CAUSE + more,
        counters=dict(zip(("a_packets", "b_packets"), counts, strict=True)),
    )  # fmt: skip
    made = replace(made, features=SERVED, causes=causes, cause_cycle=1_000_000)
    pull(CardImage([made]), place)
    return place


def diff(good: Path, bad: Path) -> RunDiff[TapInRuns]:
    return ff.diff(good, bad)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return captured(tmp_path / "good.ff", frames(20), frames(20))


def test_the_first_packet_that_differs_is_named_at_each_tap(good: Path, tmp_path: Path) -> None:
    sent = frames(20)
    came = [
        *sent[:7],
        sent[7][:24] + bytes([sent[7][24] ^ 4]) + sent[7][25:],
        *sent[8:12],
        *sent[13:],
    ]
    # The bad run was recorded from another moment on: its first packet is the good run's second.
    bad = captured(tmp_path / "bad.ff", sent[1:], came[1:], begin=1_000)
    found = diff(good, bad)
    assert found.different
    first, second = found.taps
    assert (first.source, first.packets, first.equal, first.differing) == ("A.a", (20, 19), 19, 0)
    assert (second.equal, len(second.altered), len(second.missing)) == (17, 1, 1)
    assert second.first_text() == "packet 6 (7 in run A): bits-altered at beat 3"
    assert found.first is second
    told = second.to_json()
    assert told["only_a"] == [
        {"packet": [12, None], "t_ps": 12_400_000, "text": "packet 12, 64 B: only run A has it"}
    ]
    out = run_inside("diff", str(good), str(bad)).out
    assert "First divergence: A.b, 11.6 µs: packet 6 (7 in run A): bits-altered at beat 3" in out
    assert run_inside("diff", str(good), str(bad), "--fail-on-difference").code == 1


def test_equal_runs_do_not_differ(good: Path, tmp_path: Path) -> None:
    again = captured(tmp_path / "again.ff", frames(20), frames(20), begin=500)
    found = diff(good, again)
    assert not found.different and found.compared
    assert [tap.equal for tap in found.taps] == [20, 20]
    assert "both are the same recording" in diff(good, good).notes


def test_causes_counters_and_delays_that_changed_are_told(good: Path, tmp_path: Path) -> None:
    bad = captured(
        tmp_path / "bad.ff", frames(20), frames(20), causes=1 << 3, counts=(90, 10), fifo=53
    )
    found = diff(good, bad)
    assert [(s.name, s.a, s.b) for s in found.settings] == [("A froze by", "host", "bad")]
    changed = {change.name: change.count for change in found.counters if change.changed}
    assert changed == {"A.b_packets": (90, 10)}
    (delay,) = [sample for sample in found.samples if sample.changed]
    assert (delay.name, delay.median) == ("A.a->b, delay", (400_000.0, 530_000.0))


def test_captures_of_two_cards_are_refused_with_both_hashes(good: Path, tmp_path: Path) -> None:
    other = captured(
        tmp_path / "other.ff", frames(20), frames(20), more='[bank.level]\nwire = "level"\n'
    )
    done = run_inside("diff", str(good), str(other))
    hashes = [CardFolder.open(place).manifest["devices"][0]["card"] for place in (good, other)]
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert all(f"{hash_}" in done.err for hash_ in hashes)
    assert "give two captures of one card" in done.err


def test_runs_with_other_traffic_say_that_nothing_is_in_common(good: Path, tmp_path: Path) -> None:
    chance = [bytes(64 * [n]) for n in range(40, 60)]
    found = diff(good, captured(tmp_path / "other.ff", chance, chance))
    assert "no packet that is unlike all others stands in both runs at A.a, A.b" in found.notes
