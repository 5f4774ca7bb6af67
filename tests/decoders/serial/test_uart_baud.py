"""The rate of a UART line that is measured: lines drawn here as moments, without our encoder."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.uart import UART
from freezeframe.decoders.serial.uart_code import uart_texts
from freezeframe.decoders.serial.uart_hint import uart_hint
from tests.capture.files.captures import metadata, real_capture, write_session
from tests.decoders.pieces import decoded, rows_of

RATE_HZ = 1_000_000
Pulses = list[tuple[int, float]]  # a level and how long it stays, in bits


@dataclass
class Drawn:
    """A line as it was sent, and as samples of 0 and 1."""

    sent: list[int]
    levels: np.ndarray[Any, np.dtype[np.uint8]]

    def edges(self) -> Edges:
        at = np.flatnonzero(np.diff(self.levels, prepend=1 - self.levels[:1]))
        value = self.levels[at].astype(np.uint64)
        return Edges(at, value, ("RX",), RATE_HZ, 0, len(self.levels))

    def samples(self) -> Samples:
        return Samples(self.levels << np.uint8(3), ("RX",), (3,), RATE_HZ, 0)


def character(value: int, bits: int = 8, parity: str = "none") -> Pulses:
    """Start, the least significant bit first, parity, stop (ITU-T V.4)."""
    data = [value >> place & 1 for place in range(bits)]
    ones = sum(data)
    check = {"none": [], "even": [ones % 2], "odd": [1 - ones % 2]}[parity]
    return [(level, 1.0) for level in (0, *data, *check, 1)]


def sampled(
    pulses: Pulses,
    samples_a_bit: float,
    *,
    slow_rise: float = 0.0,
    invert: bool = False,
    phase: float = 0.3,
) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Look at the line once a sample; a rising edge comes ``slow_rise`` bits late."""
    out: list[np.ndarray[Any, np.dtype[np.uint8]]] = []
    at, before, done = 0.0, 1, 0
    for level, length in [*pulses, (1, 0.0)]:
        late = slow_rise if (before, level) == (0, 1) else 0.0
        until = max(done, int(np.ceil((at + late) * samples_a_bit + phase)))
        out.append(np.full(until - done, before ^ invert, np.uint8))
        at, before, done = at + length, level, until
    return np.concatenate(out)


def text_line(rng: random.Random, count: int, samples_a_bit: float, **how: Any) -> Drawn:
    """Characters with pauses of no whole number of bits between some."""
    pulses: Pulses = [(1, 20.0)]
    sent = [rng.randrange(256) for _ in range(count)]
    for value in sent:
        pulses += character(value)
        if rng.random() < 0.4:
            pulses.append((1, rng.choice((rng.uniform(0, 3), rng.uniform(0, 200)))))
    return Drawn(sent, sampled([*pulses, (1, 15.0)], samples_a_bit, **how))


def frames(
    pieces: list[Edges | Samples], options: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    return rows_of(UART, *pieces, **(options or {}))[0]


def values_of(rows: list[dict[str, Any]]) -> list[int]:
    return [row["data"] for row in rows if row["kind"] == "frame"]


def test_without_a_rate_it_is_measured_and_told_in_a_row_before_all_others() -> None:
    line = text_line(random.Random(1), 30, RATE_HZ / 9600)
    rows = frames([line.edges()])
    assert rows[0] == {
        "t_ps": 0,
        "source": "RX",
        "kind": "baud",
        "t_end_ps": rows[1]["t_ps"],
        "error": "",
        "data": -1,
        "parity": -1,
        "parity_ok": None,
        "stop_ok": None,
        "baud": 9600,
        "sample": 0,
        "data_sample": -1,
        "data_end_sample": -1,
        "end_sample": rows[1]["sample"],
    }
    assert uart_texts(rows[0]) == ("9600 Bd", "9600 Bd, measured", "RX: 9600 Bd, measured")
    assert values_of(rows) == line.sent
    assert {row["baud"] for row in rows} == {9600}


def test_with_a_rate_that_is_given_nothing_is_measured() -> None:
    line = text_line(random.Random(1), 30, RATE_HZ / 9600)
    rows = frames([line.edges()], {"baud": 9600})
    assert [row["kind"] for row in rows] == ["frame"] * 30


def test_a_rate_that_is_not_standard_is_told_as_measured() -> None:
    line = text_line(random.Random(2), 200, RATE_HZ / 9400)
    rows = frames([line.edges()])
    assert abs(rows[0]["baud"] - 9400) <= 9
    assert uart_texts(rows[0]).normal == f"{rows[0]['baud']} Bd, measured, -2.1 % off 9600"
    assert values_of(rows) == line.sent


@pytest.mark.parametrize("samples_a_bit", [4, 4.34, 5.5, 8.68, 16, 104.1667, 1000.3])
@pytest.mark.parametrize("samplerate_hz", [300_000, 10_000_000, 40_000_000])
def test_any_rate_is_measured_at_4_to_1000_samples_a_bit(
    samples_a_bit: float, samplerate_hz: int
) -> None:
    """From 300 Bd at 1000 samples a bit to 10 MBd at 4."""
    line = text_line(random.Random(3), 120, samples_a_bit)
    edges = line.edges()
    edges = Edges(edges.sample, edges.value, ("RX",), samplerate_hz, 0, edges.end_sample)
    rows = frames([edges])
    # A receiver that samples in the middle of each of ten bits stands 5 %.
    assert rows[0]["baud"] == pytest.approx(samplerate_hz / samples_a_bit, rel=0.02)
    assert values_of(rows) == line.sent


@pytest.mark.parametrize(
    "how",
    [{"slow_rise": 0.15}, {"slow_rise": -0.15}, {"invert": True}],
    ids=["slow rise", "slow fall", "inverted"],
)
def test_slow_edges_and_an_inverted_line_do_not_change_the_rate(how: dict[str, Any]) -> None:
    line = text_line(random.Random(4), 100, RATE_HZ / 19_200, **how)
    rows = frames([line.edges()], {"invert": True} if "invert" in how else {})
    assert rows[0]["baud"] == 19_200
    assert values_of(rows) == line.sent


@pytest.mark.parametrize("seed", range(8))
def test_glitches_do_not_change_the_rate(seed: int) -> None:
    """Pulses of up to 0.4 bits, one in 25 pulses of the line, at both levels."""
    rng = random.Random(seed)
    line = text_line(rng, 150, 52)
    changes = np.flatnonzero(np.diff(line.levels))
    for begin, end in pairwise(changes.tolist()):
        if rng.random() < 0.04 and end - begin > 30:
            size = rng.randint(1, 20)
            at = rng.randint(begin + 2, end - size)
            line.levels[at : at + size] ^= 1
    rows = frames([line.edges()])
    assert rows[0]["baud"] == pytest.approx(RATE_HZ / 52, rel=0.01)


def test_a_glitch_of_half_a_bit_is_no_bit() -> None:
    line = text_line(random.Random(5), 100, 40)
    for start in (np.flatnonzero(np.diff(line.levels))[::25] + 8).tolist():
        line.levels[start : start + 20] ^= 1
    assert frames([line.edges()])[0]["baud"] == pytest.approx(25_000, rel=0.002)


@pytest.mark.parametrize(("bits", "parity"), [(5, "none"), (7, "even"), (8, "odd"), (9, "none")])
def test_the_rate_is_measured_whatever_the_frame(bits: int, parity: str) -> None:
    rng = random.Random(6)
    sent = [rng.randrange(1 << bits) for _ in range(60)]
    pulses: Pulses = [(1, 5.0)]
    for value in sent:
        pulses += character(value, bits, parity)
    drawn = Drawn(sent, sampled([*pulses, (1, 20.0)], 26.04))
    rows = frames([drawn.edges()], {"bits": bits, "parity": parity})
    assert (rows[0]["baud"], values_of(rows)) == (38_400, sent)
    assert not any(row["error"] for row in rows)


@pytest.mark.parametrize(
    "text", [b"U" * 10, b"UUUUUUUUUUUU\r\n", b"\0" * 20, b"Hello", b"\xff" * 20]
)
def test_characters_without_a_pause_tell_the_rate_where_they_are_alike_too(text: bytes) -> None:
    pulses: Pulses = [(1, 30.0)]
    for value in text:
        pulses += character(value)
    drawn = Drawn(list(text), sampled([*pulses, (1, 30.0)], 104.1667))
    rows = frames([drawn.edges()])
    assert (rows[0]["baud"], values_of(rows)) == (9600, list(text))


def refusal(levels: np.ndarray[Any, np.dtype[np.uint8]]) -> str:
    (row,) = frames([Drawn([], levels).edges()])
    assert (row["kind"], row["baud"], row["data"]) == ("error", -1, -1)
    assert row["sample"] < row["end_sample"] <= len(levels)
    return str(row["error"])


def test_pulses_of_one_length_with_pauses_are_refused_for_they_may_be_any_rate() -> None:
    """FFh is one low bit, and 00h nine: the same line at a ninth of the rate."""
    for value in (0xFF, 0x00):
        pulses: Pulses = [(1, 30.0)]
        for pause in (100.3, 41.7, 77.2, 160.1) * 5:
            pulses += [*character(value), (1, pause)]
        assert refusal(sampled(pulses, 50)) == "no-baud"


def test_a_line_of_few_pulses_is_refused() -> None:
    levels = sampled([(1, 9.0), *character(0x41), (1, 9.0)], 50)
    assert refusal(levels) == "few-pulses"
    (row,) = frames([Drawn([], levels).edges()])
    said = "few-pulses: the line changes too seldom to measure its rate; say baud="
    assert uart_texts(row).long == f"RX: {said}"
    # The same line with a rate is no question.
    assert values_of(frames([Drawn([], levels).edges()], {"baud": 20_000})) == [0x41]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("count", [20, 200, 3000])
def test_pulses_of_any_length_have_no_rate(count: int, seed: int) -> None:
    rng = random.Random(seed)
    widths = [rng.randint(20, 400) for _ in range(count)]
    levels = np.repeat(np.arange(1, count + 1, dtype=np.uint8) & 1, widths)
    assert refusal(levels) == "no-baud"


def test_fewer_than_3_samples_a_bit_are_refused() -> None:
    line = text_line(random.Random(7), 100, 2.2)
    assert refusal(line.levels) == "no-baud"


@pytest.mark.parametrize("level", [0, 1])
def test_a_line_that_never_changes_gives_no_row(level: int) -> None:
    drawn = Drawn([], np.full(5000, level, np.uint8))
    assert frames([drawn.edges()]) == frames([drawn.samples()]) == []


def test_after_a_beginning_that_has_no_rate_nothing_is_guessed() -> None:
    """The rate is that of the first 4,096 pulses; it does not depend on where pieces end."""
    rng = random.Random(8)
    noise = np.repeat(
        np.arange(1, 5001, dtype=np.uint8) & 1, [rng.randint(20, 400) for _ in range(5000)]
    )
    levels = np.concatenate((noise, text_line(rng, 500, 50).levels))
    assert refusal(levels) == "no-baud"


def test_of_a_long_line_the_rows_are_the_same_in_all_pieces_and_forms() -> None:
    line = text_line(random.Random(9), 1500, 8.68)
    whole = frames([line.edges()])
    assert values_of(whole) == line.sent
    samples = line.samples()
    assert frames([samples]) == whole
    cuts = [0, 1, 5000, 5001, 90_000, 91_000, len(samples), len(samples)]
    pieces: list[Edges | Samples] = []
    for number, (begin, end) in enumerate(pairwise(cuts)):
        part = samples.cut(begin, end)
        pieces.append(part.edges() if number % 2 else part)
    assert frames(pieces) == whole


def test_two_lines_are_measured_each_for_itself(tmp_path: Path) -> None:
    rng = random.Random(10)
    slow, fast = text_line(rng, 40, 104.1667), text_line(rng, 200, 8.68)
    both = np.full((max(len(slow.levels), len(fast.levels)), 2), 1, np.uint8)
    both[: len(slow.levels), 0] = slow.levels
    both[: len(fast.levels), 1] = fast.levels
    data = (both[:, 0] | both[:, 1] << 1).tobytes()
    path = write_session(tmp_path / "both.sr", [data], metadata(["RX", "TX"]))
    decoded = decode_file(path, ["uart:rx=RX", "uart:rx=TX"])
    first, second = (each.table.to_pylist() for each in decoded)
    assert (first[0]["baud"], values_of(first)) == (9600, slow.sent)
    assert (second[0]["baud"], values_of(second)) == (115_200, fast.sent)


@pytest.mark.parametrize(
    ("name", "probe", "baud"),
    [("uart_count_19200_8n1.sr", "tx", 19_200), ("ampel64_4800_8n1_frame_errors.sr", "TX", 4800)],
)
def test_real_captures_give_the_characters_of_their_rate(name: str, probe: str, baud: int) -> None:
    path = real_capture(name)
    ((_, measured),) = decode_file(path, [f"uart:rx={probe}"])
    ((_, given_),) = decode_file(path, [f"uart:rx={probe},baud={baud}"])
    # The first was made by a program that waits between bits, 2 % too long where the level changes.
    assert measured["baud"][0].as_py() == pytest.approx(baud, rel=0.021)
    assert values_of(measured.to_pylist()) == values_of(given_.to_pylist())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    samples_a_bit=st.floats(4, 300),
    count=st.integers(40, 90),
    slow_rise=st.floats(-0.1, 0.1),
    cut=st.integers(0, 3000),
)
@example(seed=0, samples_a_bit=4.0, count=40, slow_rise=0.0, cut=0)
def test_a_measured_line_reads_as_it_was_sent_also_with_cut_ends(
    seed: int, samples_a_bit: float, count: int, slow_rise: float, cut: int
) -> None:
    slow_rise *= min(1.0, samples_a_bit / 12)  # a sample more or less already costs a quarter of 4
    line = text_line(random.Random(seed), count, samples_a_bit, slow_rise=slow_rise)
    rows = frames([line.edges()])
    assert rows[0]["baud"] == pytest.approx(RATE_HZ / samples_a_bit, rel=0.02)
    assert values_of(rows) == line.sent
    inside = Drawn([], line.levels[cut : len(line.levels) - cut // 7])
    if len(inside.levels) > 30 * 10 * samples_a_bit:
        assert frames([inside.edges()])[0]["baud"] == pytest.approx(rows[0]["baud"], rel=0.02)


def hint_of(line: Drawn, **options: Any) -> str:
    return uart_hint(decoded(UART, line.edges(), **options)["uart"])


def test_many_frames_without_a_stop_bit_end_in_a_hint_and_a_few_do_not() -> None:
    line = text_line(random.Random(11), 200, RATE_HZ / 9600)
    assert hint_of(line) == hint_of(line, baud=9600) == ""
    assert hint_of(Drawn([], line.levels[:10])) == ""
    assert re.fullmatch(
        r"uart: \d+ of \d+ frames of RX have no stop bit: another rate \(baud=0 measures it\), "
        r"another size or parity \(bits=, parity=\), an inverted line \(invert=yes\), or no UART",
        hint_of(line, baud=19_200),
    )
    assert "have no stop bit: another rate (say baud=), another size" in hint_of(line, bits=5)
    # One frame of ten broken by a break, say, is no other rate.
    pulses: Pulses = [(1, 9.0)]
    for value in random.Random(12).randbytes(9):
        pulses += character(value)
    broken = Drawn([], sampled([*pulses, (0, 20.0), (1, 20.0)], 50))
    assert hint_of(broken, baud=20_000) == ""
