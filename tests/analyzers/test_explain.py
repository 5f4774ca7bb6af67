"""How much of a recording the event logs hold, as a verdict of no fault states it; what explaining runs through.

Source: docs/diagnosis.md, "What the event logs hold".
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

import freezeframe.analyzers
from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import BUS_PS, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import omit
from tests.analyzers.diagnosis.test_word_faults import LEN, busy

MS = 1_000_000_000
EVENT_LOG = 4


def quiet(events: int, every_cycles: int = 10) -> Pair:
    """Return a pair with NOTE events in A's log, one every few bus cycles from cycle 5000 on."""
    pair = Pair(causes={"A": ["host"], "B": ["host"]})
    pair.traffic(4)
    for n in range(events):
        at_ps = (5000 + n * every_cycles) * BUS_PS
        pair.event("A", at_ps, "STATE", "tx_link", 0)
    return pair


def test_a_log_that_has_wrapped_says_how_much_it_holds_and_what_was_before(
    explained: Explain,
) -> None:
    pair = quiet(4000)
    pair.set("A", "memory.stored", EVENT_LOG, value=4002)
    reach = explained(pair).reaches[0]
    # 2048 records, the last two of them MARK and TIME of the closing.
    assert (reach.device, reach.whole, reach.overwritten) == ("A", False, 4002 - 2048)
    assert reach.run_ps is not None and reach.held_ps < reach.run_ps
    assert "1,954 records were overwritten before that" in reach.text
    assert reach.text.startswith("A's event log holds the last ")


def test_a_log_that_has_not_wrapped_holds_everything(explained: Explain) -> None:
    found = explained(quiet(100))
    assert [reach.whole for reach in found.reaches if reach.device == "A"] == [True]
    assert "holds everything since the recorder was armed" in found.reaches[0].text
    assert found.to_json()["event_logs"][0]["whole"] is True


def test_numbers_that_were_not_read_are_said_to_be_unknown(explained: Explain) -> None:
    pair = quiet(4000)
    pair.unread |= {("A", "pair.first_lo", 0)}
    reach = explained(pair).reaches[0]
    assert (reach.run_ps, reach.overwritten) == (None, None)
    assert reach.text.endswith("how many records were overwritten before that is not known.")


@pytest.mark.parametrize("seed", [5])
def test_the_share_of_an_emulated_run_is_that_of_its_clock(tmp_path: Path, seed: int) -> None:
    target = EmulatorTarget("forth", "none", seed, load="saturating")
    target.run_until_frozen(4 * MS)
    pull(target, tmp_path / "run.ff", freeze=True)
    folder = CaptureFolder.open(tmp_path / "run.ff")
    for reach in explain(folder).reaches:
        device = next(d for d in folder.devices if d.name == reach.device)
        frozen = device.registers.value64("frozen.freeze_cycle_")
        assert frozen is not None and reach.run_ps is not None
        # Armed at power-up, in bus cycle 0; the log closes before the bank is copied.
        ran_ps = frozen * BUS_PS
        assert ran_ps - MS <= reach.run_ps <= ran_ps
        assert reach.overwritten == (device.registers.value("memory.stored", EVENT_LOG) or 0) - (
            len(device.memories["event_log"].slots_in_order())
        )
        assert not reach.whole and 0 < reach.held_ps < reach.run_ps


def test_what_was_decoded_already_is_not_decoded_again_and_explains_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    folder = pair.write(tmp_path / "pair.ff")
    alone, trace = explain(folder), decode_capture(folder)
    words, notes = trace.words.copy(), list(trace.notes)

    def again(*_: object) -> None:
        raise AssertionError("decoded again")

    monkeypatch.setattr("freezeframe.analyzers.view.decode_capture", again)
    assert explain(folder, trace=trace).to_json() == alone.to_json()
    assert trace.words.equals(words) and trace.notes == notes, "what was given is as it was"


ROOMS = ("capture", "decoders", "analyzers")


def test_explaining_a_capture_runs_through_few_files(tmp_path: Path) -> None:
    """What a reader must open to follow one explanation: files of ours in which a function is called."""
    pair, hit = busy(causes=LEN)
    omit(hit, "tx_deq", 7)
    folder = pair.write(tmp_path / "pair.ff")
    explain(folder)
    rooms = Path(freezeframe.analyzers.__file__).resolve().parents[1]
    files: set[Path] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            files.add(Path(frame.f_code.co_filename))

    sys.setprofile(note)
    try:
        explain(folder)
    finally:
        sys.setprofile(None)
    ours = {
        path.resolve().relative_to(rooms)
        for path in files
        if path.is_file() and rooms in path.resolve().parents
    }
    # A checkout may hold its own virtual environment, too.
    own = sorted(str(path) for path in ours if path.parts[0] in ROOMS)
    assert 20 < len(own) <= 59, own
