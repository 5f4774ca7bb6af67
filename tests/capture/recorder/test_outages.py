"""A target that vanishes in mid-pull is waited for; what comes back must be the same recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder import patience
from freezeframe.capture.recorder.pull import Progress, pull
from freezeframe.capture.targets.base import Target, Words
from tests.capture.recorder.fake_recorder import BadWay, FakeRecorder
from tests.capture.recorder.test_pull import assert_exact, gaps

MANY = 2000  # only reads of trace memories are this long here


@pytest.fixture
def recorder() -> FakeRecorder:
    # Ten memories of seven chunks: several batches, so that some are done before an outage.
    return FakeRecorder(depth=1700)


@pytest.fixture
def way(recorder: FakeRecorder) -> BadWay:
    return BadWay(recorder)


def at_the_second_long_read(way: BadWay, happens: Callable[[Words, Words], None]) -> None:
    """Let something happen to the target, and to the words of that read."""
    long_reads = 0

    def after(addresses: Words, words: Words) -> None:
        nonlocal long_reads
        long_reads += len(words) > MANY
        if len(words) > MANY and long_reads == 2:
            happens(addresses, words)

    way.alter = after


def dies_in_the_memories(
    way: BadWay, reads_dead: int, then: Callable[[], None] = lambda: None
) -> None:
    """Let the target die at its second long read, and come back some reads later."""
    came_back: list[int] = []

    def before(reads: int) -> None:
        if way.dead and reads >= came_back[0]:
            way.dead = False
            then()

    def dies(addresses: Words, words: Words) -> None:
        came_back.append(way.reads + reads_dead)
        way.dead = True
        raise TargetTimeout("bad: the answer never came")

    way.before = before
    at_the_second_long_read(way, dies)


def test_an_outage_only_takes_time(tmp_path: Path, way: BadWay, recorder: FakeRecorder) -> None:
    dies_in_the_memories(way, 3)
    told: list[Progress] = []
    report = pull(way, tmp_path / "x.ff", wait_s=5, progress=told.append)
    assert report.complete
    assert report.outages == 1
    assert any(progress.waiting for progress in told)
    assert_exact(report.path, recorder)


def test_what_was_verified_before_an_outage_is_not_read_again(tmp_path: Path, way: BadWay) -> None:
    dies_in_the_memories(way, 1)
    seen: list[int] = []
    damage = way.alter

    def note(addresses: Words, words: Words) -> None:
        damage(addresses, words)
        if len(words) > MANY:
            seen.extend(addresses.tolist())

    way.alter = note
    pull(way, tmp_path / "x.ff", wait_s=5)
    assert len(seen) == len(set(seen))


def test_many_short_outages_are_all_waited_for(tmp_path: Path, recorder: FakeRecorder) -> None:
    way = BadWay(recorder, seed=11)
    way.timeout_share = 0.2
    way_open = way.timeout_share

    def calm_until_open(reads: int) -> None:
        way.timeout_share = way_open if reads > 10 else 0.0

    way.before = calm_until_open
    report = pull(way, tmp_path / "x.ff", wait_s=5)
    assert report.complete
    assert report.outages > 0
    assert_exact(report.path, recorder)


def test_a_target_that_stays_away_leaves_what_was_verified_and_says_what_is_missing(
    tmp_path: Path, way: BadWay, recorder: FakeRecorder
) -> None:
    dies_in_the_memories(way, 1_000_000)
    report = pull(way, tmp_path / "x.ff", wait_s=0.2)
    assert not report.complete
    assert 0 < report.words < report.words_total
    assert "vanished and did not come back within 0.2 s" in report.lost[0]
    assert_exact(report.path, recorder)
    missing = gaps(report.path)
    assert missing["B.event_log"] == [(0, 1700)]
    assert "A.tx_enq" not in missing
    device = CaptureFolder.open(report.path).devices[0]
    assert [gap.slots for gap in device.sample_gaps] == [64]
    assert device.registers.value("ctl.generation") == 1


def test_a_target_restarted_in_mid_pull_leaves_the_old_recordings_finished_chunks(
    tmp_path: Path, way: BadWay
) -> None:
    true = FakeRecorder(depth=1700)
    other = FakeRecorder(depth=1700, seed=99, nonce=0x55000000)

    def restart() -> None:
        way.inner = other

    dies_in_the_memories(way, 3, restart)
    report = pull(way, tmp_path / "x.ff", wait_s=5)
    assert "device A was restarted (boot nonce 0x0b000000 before, 0x55000000 now)" in report.lost[0]
    assert 0 < report.words < report.words_total
    assert_exact(report.path, true)


def test_a_restart_so_short_that_no_read_fails_is_noticed_all_the_same(
    tmp_path: Path, way: BadWay
) -> None:
    """The words of the new recording have good CRCs too; none of them may be kept."""
    true = FakeRecorder(depth=1700)
    other = FakeRecorder(depth=1700, seed=99, nonce=0x55000000)

    def restart(addresses: Words, words: Words) -> None:
        words[:] = other.read(addresses)
        way.inner = other

    at_the_second_long_read(way, restart)
    report = pull(way, tmp_path / "x.ff")
    assert "its recording is gone" in report.lost[0]
    assert_exact(report.path, true)


def test_a_first_answer_that_gets_lost_is_asked_for_again(tmp_path: Path) -> None:
    way = BadWay(FakeRecorder())

    def lose_three(reads: int) -> None:
        if reads <= 3:
            raise TargetTimeout("bad: lost")

    way.before = lose_three
    assert pull(way, tmp_path / "x.ff").complete


def test_a_target_that_never_answered_is_an_error_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "_CONTACT_S", 0.05)
    way = BadWay(FakeRecorder())
    way.dead = True
    with pytest.raises(TargetTimeout, match="no answer"):
        pull(way, tmp_path / "x.ff", wait_s=3600)
    assert list(tmp_path.iterdir()) == []


def test_one_altered_nonce_is_no_restart(tmp_path: Path, way: BadWay) -> None:
    altered: list[int] = []

    def alter(addresses: Words, words: Words) -> None:
        if (
            len(words) == 6 and len(altered) < 5 and way.reads % 2
        ):  # nonce, generation, state of two
            words[0] ^= 1
            altered.append(way.reads)

    way.alter = alter
    report = pull(way, tmp_path / "x.ff")
    assert altered
    assert report.complete


def test_a_bus_that_dies_and_reads_all_ones_is_waited_for(
    tmp_path: Path, way: BadWay, recorder: FakeRecorder
) -> None:
    since: list[int] = []

    def before(reads: int) -> None:
        if since and reads > since[0] + 4:
            way.all_ones = False

    def goes(addresses: Words, words: Words) -> None:
        since.append(way.reads)
        way.all_ones = True
        words[len(words) // 2 :] = 0xFFFFFFFF

    way.before = before
    at_the_second_long_read(way, goes)
    report = pull(way, tmp_path / "x.ff", wait_s=5)
    assert report.complete
    assert report.outages == 1
    assert_exact(report.path, recorder)


def test_a_link_that_answers_single_words_only_does_not_hold_the_pull_for_ever(
    tmp_path: Path, recorder: FakeRecorder
) -> None:
    class NoLongReads(BadWay):
        def read(self, addresses: Words | Sequence[int]) -> Words:
            if len(addresses) > MANY:
                raise TargetTimeout("bad: too long")
            return super().read(addresses)

    way = NoLongReads(recorder)
    report = pull(way, tmp_path / "x.ff", wait_s=60)
    assert way.url not in " ".join(report.lost)  # a URL may say how an emulated card was opened
    assert "answers single words, but 10 longer reads in a row failed" in report.lost[0]


def test_a_transport_that_does_not_mend_itself_is_opened_anew(
    tmp_path: Path, recorder: FakeRecorder
) -> None:
    broken = BadWay(recorder)
    dies_in_the_memories(broken, 1_000_000)
    opened: list[BadWay] = []

    def reopen() -> Target:
        if len(opened) == 0:
            opened.append(BadWay(recorder))
            raise TargetError("bad: not yet")
        opened.append(BadWay(recorder))
        return opened[-1]

    report = pull(broken, tmp_path / "x.ff", wait_s=5, reopen=reopen)
    assert report.complete
    assert [way.dead for way in opened] == [False, True]  # what was opened is closed again
    assert_exact(report.path, recorder)


def test_a_line_that_one_program_may_have_open_is_closed_before_it_is_opened_anew(
    tmp_path: Path, recorder: FakeRecorder
) -> None:
    line = BadWay(recorder)
    dies_in_the_memories(line, 1_000_000)

    def reopen() -> Target:
        if not line.was_closed:
            raise TargetError("uart: another program has it open; close that first")
        return BadWay(recorder)

    report = pull(line, tmp_path / "x.ff", wait_s=0.3, reopen=reopen)
    assert report.complete
    assert_exact(report.path, recorder)


def test_a_disk_that_fills_during_the_pull_costs_nothing_of_the_recording(
    tmp_path: Path, recorder: FakeRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(InputError, match="no space left: the capture needs"):
        pull(recorder, tmp_path / "x.ff")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []
    assert pull(recorder, tmp_path / "x.ff").complete
