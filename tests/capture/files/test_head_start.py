"""A process that unpacks ahead: the same pieces as without it, whatever the file or its end is."""

from __future__ import annotations

import os
import signal
import time
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import CaptureFormatError, FreezeframeError
from freezeframe.capture.files import head_start
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr import read_pieces

MEMBER = 500_000


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take every file for large, and the machine for one with two cores and this thread alone."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(head_start.threading, "active_count", lambda: 1)  # type: ignore[attr-defined]
    monkeypatch.setattr(head_start, "_LEAST_B", 1)
    yield
    head_start.end()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # no process of ours is left


def members(count: int, kind: str = "<u1", dense: tuple[int, ...] = ()) -> list[bytes]:
    """Return members that change now and then, some of them with every sample."""
    rng = np.random.default_rng(count)
    made = []
    for number in range(count):
        samples = np.zeros(MEMBER, dtype=kind)
        if number in dense:
            samples[:] = rng.integers(0, 16, MEMBER)
        else:
            at = np.sort(rng.integers(0, MEMBER, 20))
            samples += np.searchsorted(at, np.arange(MEMBER)).astype(kind) % 16
        made.append(samples.tobytes())
    return made


def write(path: Path, data: list[bytes], unitsize: int = 1) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", "2")
        probes = "".join(f"probe{i + 1}=D{i}\n" for i in range(4))
        archive.writestr(
            "metadata",
            f"[device 1]\ncapturefile=logic-1\ntotal probes=4\nsamplerate=1 MHz\n{probes}"
            f"unitsize={unitsize}\n",
        )
        for number, each in enumerate(data, start=1):
            archive.writestr(f"logic-1-{number}", each)
    return path


def edges(path: Path, probes: tuple[str, ...] = ("D0", "D1", "D2", "D3")) -> Edges:
    pieces = read_pieces(
        path,
        probes=probes,
        samplerate_hz=None,
        max_samples=1 << 32,
        progress=None,
        few_changes=head_start.FEW_CHANGES,
    )
    parts = [piece.edges() if isinstance(piece, Samples) else piece for piece in pieces]
    whole = join(parts).select(probes)
    # A piece repeats its first value; that is no change.
    keep = np.ones(len(whole), dtype=np.bool_)
    keep[1:] = whole.value[1:] != whole.value[:-1]
    return Edges(
        whole.sample[keep],
        whole.value[keep],
        whole.channels,
        whole.samplerate_hz,
        whole.begin_sample,
        whole.end_sample,
    )


def same(one: Edges, other: Edges) -> bool:
    return (
        np.array_equal(one.sample, other.sample)
        and np.array_equal(one.value, other.value)
        and (one.end_sample, one.channels) == (other.end_sample, other.channels)
    )


def wait_until_it_has_ended(pid: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
        time.sleep(0.01)
    raise AssertionError("the process goes on")


def begun(path: Path) -> head_start.HeadStart:
    head_start.begin(path)
    (head,) = head_start._running
    return head


def found(head: head_start.HeadStart, count: int) -> list[list[int]]:
    """Return the sizes of the pieces that the process has looked at, member by member."""

    def own(number: int) -> list[int]:
        raise AssertionError(f"member {number} is left to the reader")

    return list(head.members(count, own, lambda pieces: [piece[2] for piece in pieces]))


def left(head: head_start.HeadStart, count: int) -> list[int]:
    """Return the members that the process has left to the reader; it has ended."""
    mine: list[int] = []
    made = head.members(count, mine.append, lambda _: None)
    done = sum(1 for _ in made)
    return [*mine, *range(done, count)]


@pytest.mark.parametrize(("kind", "unitsize"), [("<u1", 1), ("<u2", 2), ("<u4", 4), ("<u8", 8)])
@pytest.mark.parametrize("probes", [("D0", "D1", "D2", "D3"), ("D2", "D0")], ids=["all", "two"])
def test_the_edges_are_those_without_it(
    tmp_path: Path, kind: str, unitsize: int, probes: tuple[str, ...]
) -> None:
    path = write(tmp_path / "a.sr", members(4, kind), unitsize)
    plain = edges(path, probes)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert same(edges(path, probes), plain)


def test_all_members_are_handed_over_where_there_is_time(tmp_path: Path) -> None:
    head = begun(write(tmp_path / "a.sr", members(3)))
    wait_until_it_has_ended(head.pid)
    assert found(head, 3) == [[MEMBER]] * 3


@pytest.mark.parametrize("pause_s", [0.0, 0.002, 0.02])
def test_each_member_is_looked_at_once_by_one_of_both_and_comes_in_its_turn(
    tmp_path: Path, pause_s: float
) -> None:
    data = members(40)
    head = begun(write(tmp_path / "a.sr", data))
    mine: list[int] = []

    def own(number: int) -> tuple[str, int]:
        mine.append(number)
        time.sleep(pause_s)
        return "own", int(np.frombuffer(data[number], dtype=np.uint8).sum())

    def found(pieces: list[head_start.Changes]) -> tuple[str, int]:
        total = 0
        for at, value, samples in pieces:
            total += int((np.diff(np.append(at, samples)) * value).sum())
        return "found", total

    got = list(head.members(len(data), own, found))
    assert mine == sorted(set(mine))
    assert [number for number, (who, _) in enumerate(got) if who == "own"] == mine
    sums = [int(np.frombuffer(each, dtype=np.uint8).sum()) for each in data]
    assert [total for _, total in got] == sums


def test_a_reader_that_is_faster_goes_on_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sr", members(12))
    plain = edges(path)
    begun(path)
    assert same(edges(path), plain)


@pytest.mark.parametrize("dense", [0, 2])
def test_a_member_with_many_changes_is_left_to_the_reader(tmp_path: Path, dense: int) -> None:
    path = write(tmp_path / "a.sr", members(4, dense=(dense,)))
    plain = edges(path)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert same(edges(path), plain)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert left(head, 4) == [dense]


@pytest.mark.parametrize("dense", [(0, 1), (2, 4)])
def test_a_second_dense_member_and_what_follows_is_left_to_the_reader(
    tmp_path: Path, dense: tuple[int, int]
) -> None:
    path = write(tmp_path / "a.sr", members(6, dense=dense))
    plain = edges(path)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert same(edges(path), plain)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert left(head, 6) == [dense[0], *range(dense[1], 6)]


@pytest.mark.parametrize("kind", ["<u1", "<u8"])
def test_members_with_some_thousand_changes_are_looked_at_from_the_second_on(
    tmp_path: Path, kind: str
) -> None:
    size = np.dtype(kind).itemsize
    often = np.repeat(np.arange(40_000) % 16, 5).astype(kind).tobytes()
    path = write(tmp_path / "a.sr", [often] * 4, size)
    plain = edges(path)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert left(head, 4) == [0]
    begun(path)
    assert same(edges(path), plain)


def test_members_that_end_inside_a_sample_are_all_left_to_the_reader(tmp_path: Path) -> None:
    # The second is whole samples long, but none of it begins where one does.
    whole = b"".join(members(1, "<u4"))
    cuts = [0, 301, 1_000_301, len(whole)]
    path = write(tmp_path / "a.sr", [whole[a:b] for a, b in pairwise(cuts)], 4)
    plain = edges(path)
    assert plain.end_sample == MEMBER
    begun(path)
    assert same(edges(path), plain)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert left(head, 3) == [0, 1, 2]


def test_a_damaged_member_is_told_as_without_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sr", members(4))
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("logic-1-3")
    data = bytearray(path.read_bytes())
    at = info.header_offset + 30 + len("logic-1-3") + info.compress_size // 2
    data[at : at + 8] = bytes(8)
    path.write_bytes(data)
    with pytest.raises(CaptureFormatError) as plain:
        edges(path)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    with pytest.raises(CaptureFormatError) as told:
        edges(path)
    assert str(told.value) == str(plain.value)
    assert "logic-1-3" in str(told.value)


def test_of_several_damaged_members_the_first_is_told_whatever_the_reader_met_before(
    tmp_path: Path,
) -> None:
    head = begun(write(tmp_path / "a.sr", members(40)))
    mine: list[int] = []

    def own(number: int) -> int:
        mine.append(number)
        raise CaptureFormatError(f"member {number}")

    with pytest.raises(CaptureFormatError) as told:
        list(head.members(40, own, len))
    assert str(told.value) == f"member {min(mine)}"


def test_more_changes_than_there_is_room_for_are_left_to_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(head_start, "_ROOM_B", 1 << 10)
    path = write(tmp_path / "a.sr", members(6))
    plain = edges(path)
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    assert same(edges(path), plain)


def test_a_process_that_is_killed_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sr", members(4))
    head = begun(path)
    os.kill(head.pid, signal.SIGKILL)
    wait_until_it_has_ended(head.pid)
    with pytest.raises(
        FreezeframeError, match=r"a\.sr: the process that unpacks it died of SIGKILL"
    ):
        edges(path)


def test_a_file_that_is_another_now_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sr", members(2))
    head = begun(path)
    wait_until_it_has_ended(head.pid)
    path.unlink()
    write(path, members(5))
    assert edges(path).end_sample == 5 * MEMBER


def test_it_is_handed_out_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.sr", members(2))
    begun(path)
    assert head_start.begun(path) is not None
    assert head_start.begun(path) is None
    assert head_start.begun(tmp_path / "b.sr") is None


def test_what_nobody_asked_for_is_ended(tmp_path: Path) -> None:
    head = begun(write(tmp_path / "a.sr", members(4)))
    head_start.end()
    with pytest.raises(ProcessLookupError):
        os.kill(head.pid, 0)


@pytest.mark.parametrize("what", ["missing", "folder", "text", "one core", "threads"])
def test_nothing_begins_where_it_is_of_no_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    path = tmp_path / "a.sr"
    if what == "folder":
        path.mkdir()
    elif what == "text":
        path.write_text("PK, but no archive")
    elif what != "missing":
        write(path, members(1))
    if what == "one core":
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    if what == "threads":
        monkeypatch.setattr(head_start.threading, "active_count", lambda: 2)  # type: ignore[attr-defined]
    head_start.begin(path)
    assert not head_start._running
