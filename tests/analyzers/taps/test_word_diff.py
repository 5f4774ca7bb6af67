"""Word lists of any width: what happened to which words, in one table, whatever the size of the loss."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.declarations import CRC, TAPS
from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.analysis_code import (
    compare_taps,
    diff_columns,
    differences,
    surroundings,
)
from freezeframe.analyzers.taps.edit_script import EXACT_WORDS, edit_script
from freezeframe.analyzers.taps.word_diff import Run, WordDiff, diff_words
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import InputError
from freezeframe.gui.plots.word_diff import draw_word_diff
from tests.analyzers.bench_pair import Pair

Words = npt.NDArray[Any]


def random_words(count: int, seed: int = 1) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 1 << 63, count, np.uint64)


def replayed(up: Words, down: Words, script: npt.NDArray[np.int64]) -> Words:
    """Go the way a script describes, taking equal words from ``up`` and what is put in from ``down``."""
    taken: list[Words] = []
    i = j = 0
    for omitted, inserted, equal in script.tolist():
        i += omitted
        taken += [down[j : j + inserted], up[i : i + equal]]
        i, j = i + equal, j + inserted + equal
    assert (i, j) == (len(up), len(down))
    return np.concatenate([up[:0], *taken])


def runs(up: Words, down: Words, **options: Any) -> list[Run]:
    return list(diff_words(up, down, **options).runs())


def test_equal_lists_have_no_run_and_no_first_divergence() -> None:
    words = random_words(5_000)
    found = diff_words(words, words.copy())
    assert (len(found), found.first_divergence, found.equal_units) == (0, None, 5_000)
    assert set(found.counts.values()) == {0}


def test_two_empty_lists_are_equal() -> None:
    assert diff_words(random_words(0), random_words(0)).first_divergence is None


def test_everything_that_follows_the_end_of_one_list_is_omitted() -> None:
    words = random_words(9)
    assert runs(words, words[:6]) == [Run(Op.OMITTED, 6, 6, 3, 0, 3, 6, 1)]


def test_one_of_each_is_told_apart_and_placed() -> None:
    up = random_words(10_000)
    down = np.concatenate([up[:50], up[49:100], up[101:200], up[300:400], up[200:300], up[400:]])
    down[5_000] ^= np.uint64(8)
    assert runs(up, down) == [
        Run(Op.DUPLICATED, 50, 50, 0, 1, 1, 50, 1),
        Run(Op.OMITTED, 100, 101, 1, 0, 1, 100, 1),
        Run(Op.REORDERED, 300, 200, 100, 100, 100, 200, 1),
        Run(Op.ALTERED, 5_000, 5_000, 1, 1, 1, 5_000, 1),
    ]


def test_a_stretch_that_came_twice_is_duplicated_as_a_whole() -> None:
    up = random_words(3_000)
    down = np.concatenate([up[:1_200], up[1_000:]])
    assert runs(up, down) == [Run(Op.DUPLICATED, 1_200, 1_200, 0, 200, 200, 1_200, 1)]


def test_between_equal_words_the_place_is_a_range() -> None:
    up = np.array([1, 7, 7, 7, 2], np.uint64)
    assert runs(up, np.delete(up, 1)) == [Run(Op.OMITTED, 3, 3, 1, 0, 1, 1, 3)]
    assert runs(np.delete(up, 1), up) == [Run(Op.DUPLICATED, 3, 3, 0, 1, 1, 2, 2)]


@pytest.mark.parametrize("lost", [100, 3_000, 60_000, 700_000])
def test_after_a_loss_of_any_length_the_lists_are_laid_together_again(lost: int) -> None:
    up = random_words(1_000_000)
    down = np.delete(up, slice(1_000, 1_000 + lost))
    assert runs(up, down) == [Run(Op.OMITTED, 1_000, 1_000, lost, 0, lost, 1_000, 1)]


def test_damage_in_place_stays_in_place_however_dense() -> None:
    up = random_words(100_000)
    down = up.copy()
    down[::3] ^= np.uint64(1)
    found = diff_words(up, down)
    assert found.counts[Op.ALTERED] == len(up[::3])
    assert found.equal_units == 100_000 - len(up[::3])
    assert {op for op, count in found.counts.items() if count} == {Op.ALTERED}


def test_a_stretch_replaced_by_a_longer_one_is_not_called_altered() -> None:
    up = random_words(20_000)
    down = np.concatenate([up[:5_000], random_words(4_000, 2), up[8_000:]])
    assert runs(up, down) == [Run(Op.REPLACED, 5_000, 5_000, 3_000, 4_000, 4_000, 5_000, 1)]


def test_two_neighbours_that_changed_places_are_reordered() -> None:
    up = random_words(100)
    down = up.copy()
    down[[40, 41]] = down[[41, 40]]
    (run,) = runs(up, down)
    assert (run.op, run.words) == (Op.REORDERED, 1)


def test_few_equal_words_far_apart_are_chance_and_not_reordering() -> None:
    up = random_words(20_000)
    down = np.insert(np.delete(up, 100), 15_000, up[100])
    assert [run.op for run in runs(up, down)] == [Op.OMITTED, Op.INSERTED]


@pytest.mark.parametrize("order", ["low-first", "high-first"])
def test_halves_are_compared_with_the_words_they_came_from(order: str) -> None:
    up = random_words(1_000)
    low, high = up & np.uint64(0xFFFFFFFF), up >> np.uint64(32)
    pair = (low, high) if order == "low-first" else (high, low)
    halves = np.stack(pair, axis=1).reshape(-1).astype(np.uint32)
    assert runs(up, halves, order=order) == []
    found = diff_words(up, np.delete(halves, 701), order=order)  # type: ignore[arg-type]
    row = found.table().iloc[0]
    assert (row["op"], row["up_word"], row["up_part"]) == ("omitted", 350, 1)
    assert (found.bits, found.up_parts, found.down_parts) == (32, 2, 1)


@pytest.mark.parametrize(("bits", "unit"), [(8, 8), (16, 8), (24, 8), (40, 8), (48, 16)])
def test_words_of_any_width_are_compared_in_their_largest_common_part(bits: int, unit: int) -> None:
    up_bits = 8 if unit == 8 else 16
    words = random_words(999) >> np.uint64(64 - bits)
    parts = bits // up_bits
    small = np.array(
        [
            word >> part * up_bits & (1 << up_bits) - 1
            for word in words.tolist()
            for part in range(parts)
        ]
    )
    found = diff_words(small, words, up_bits=up_bits, down_bits=bits)
    assert (found.bits, found.first_divergence) == (unit, None)


def test_a_word_too_wide_for_its_width_is_refused_by_number() -> None:
    with pytest.raises(ValueError, match=r"up: word 2 is 0x100, which does not fit 8 bits"):
        diff_words(np.array([1, 2, 256]), np.array([1]), up_bits=8, down_bits=8)
    with pytest.raises(ValueError, match="words of 65 bits; 1 to 64"):
        diff_words(np.array([1]), np.array([1]), up_bits=65)
    with pytest.raises(
        ValueError, match="a list of integers is needed, not 1 dimensions of float64"
    ):
        diff_words(np.array([1.5]), np.array([1]))


def test_the_table_names_word_and_part_of_the_list_as_it_was_given() -> None:
    up = np.arange(4, dtype=np.uint64)
    table = diff_words(up, np.array([0, 0, 1, 0, 9, 0, 3, 0], np.uint32)).table()
    assert table[["op", "up", "up_word", "up_part", "down_word"]].to_dict("records") == [
        {"op": "altered", "up": 4, "up_word": 2, "up_part": 0, "down_word": 4}
    ]


edits = st.lists(
    st.tuples(st.sampled_from("oda"), st.integers(0, 5_999), st.integers(1, 90)), max_size=25
)


@settings(max_examples=40, deadline=None)
@given(edits, st.integers(1, 3), st.sampled_from([2, 50, 1 << 62]))
def test_a_script_always_leads_from_one_list_to_the_other(
    damage: list[tuple[str, int, int]], seed: int, values: int
) -> None:
    rng = np.random.default_rng(seed)
    up = rng.integers(0, values, 6_000)
    down = up.copy()
    for kind, at, count in damage:
        if kind == "o":
            down = np.delete(down, slice(at, at + count))
        elif kind == "d":
            down = np.insert(down, min(at, len(down)), down[at : at + count])
        else:
            down[at : at + count] = rng.integers(0, values, len(down[at : at + count]))
    script = edit_script(up, down)
    assert np.array_equal(replayed(up, down, script), down)
    counts = diff_words(up, down)
    assert sum(g[2] for g in script.tolist()) <= counts.equal_units <= min(len(up), len(down))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 5), st.integers(0, 1 << 32))
def test_with_words_that_do_not_repeat_few_edits_are_found_exactly(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    up = random_words(5_000, seed)
    gone = np.sort(rng.choice(5_000, count, replace=False))
    found = diff_words(up, np.delete(up, gone))
    assert found.counts[Op.OMITTED] == count == sum(found.counts.values())
    at = [run.up + k for run in found.runs() for k in range(run.words)]
    assert at == gone.tolist()


def test_short_lists_are_searched_exactly_up_to_two_of_the_longest_packets() -> None:
    assert EXACT_WORDS >= 2 * (2 + 512 + 1 + 8)


# ---- taps of a capture


def damaged(tmp_path: Path) -> CaptureView:
    pair = Pair()
    sent = pair.traffic(20)
    for words in sent[11].from_tap("tx_deq"):
        del words[6]
    for words in sent[14].from_tap("rx_enq"):
        words[5] = (2, words[5][1] ^ 0x10)
    sent[16].rx_deq.insert(8, sent[16].rx_deq[7])
    return CaptureView(pair.write(tmp_path / "pair.ff"))


def test_any_two_taps_are_compared_not_only_neighbours(tmp_path: Path) -> None:
    table = differences(compare_taps(damaged(tmp_path), "A.tx_enq", "B.rx_deq"))
    rows = table[["op", "packet", "word", "bits_changed"]].to_dict("records")
    assert rows == [
        {"op": "omitted", "packet": 111, "word": 4, "bits_changed": -1},
        {"op": "altered", "packet": 114, "word": 3, "bits_changed": 1},
        {"op": "duplicated", "packet": 116, "word": 6, "bits_changed": -1},
    ]


def test_the_analysis_names_the_first_divergence_and_shows_the_words_around_it(
    tmp_path: Path,
) -> None:
    result = TAPS.run(damaged(tmp_path))
    assert result.figure("A.tx_enq-A.tx_deq.omitted").value == 1
    assert result.figure("B.rx_enq-B.rx_deq.duplicated").value == 1
    assert result.figure("B.tx_enq-B.tx_deq.differing").value == 0
    assert result.notes[-1] == (
        "First divergence: between A.tx_enq and A.tx_deq, packet 111: payload word 4 omitted."
    )
    around = result.tables["first_divergence"]
    assert around["op"].tolist().count("omitted") == 1
    equal = around[around["op"] == ""]
    assert (equal["up_data"] == equal["down_data"]).all()
    result.to_json()


@pytest.mark.parametrize("seed", range(6))
def test_a_clean_capture_cut_anywhere_differs_nowhere(tmp_path: Path, seed: int) -> None:
    pair = Pair(seed)
    pair.traffic(12)
    for device, tap in (("A", "tx_enq"), ("A", "tx_deq"), ("B", "rx_enq"), ("B", "rx_deq")):
        first = pair.random.randrange(0, 150)
        pair.keep[device, tap] = slice(first, first + pair.random.randrange(1, 250))
    view = CaptureView(pair.write(tmp_path / "pair.ff"))
    assert TAPS.run(view).tables["differences"].empty
    assert CRC.run(view).tables["bad"].empty


def test_a_clean_capture_differs_nowhere(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(10)
    result = TAPS.run(CaptureView(pair.write(tmp_path / "pair.ff")))
    assert result.tables["differences"].empty
    assert result.notes[-1].startswith("Every word recorded at two taps is the same")


@pytest.mark.parametrize(("flows", "how"), [((0, 1), "between flows"), ((0, 0), "within its flow")])
def test_a_packet_that_overtakes_another_is_reordered_within_or_between_flows(
    tmp_path: Path, flows: tuple[int, int], how: str
) -> None:
    pair = Pair()
    sent = [pair.send(flow=flow) for flow in (0, 1, *flows, 0, 1, 0)]
    sent[2].rx_deq, sent[3].rx_deq = sent[3].rx_deq, sent[2].rx_deq
    view = CaptureView(pair.write(tmp_path / "pair.ff"))
    table = differences(compare_taps(view, "B.rx_enq", "B.rx_deq"))
    (row,) = table.to_dict("records")
    assert (row["op"], row["words"], row["note"]) == ("reordered", 23, f"the whole packet, {how}")


def test_a_tap_that_is_not_in_the_capture_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"no tap 'C.tx_enq' to compare; the capture holds A.tx_enq,"
    ):
        compare_taps(damaged(tmp_path), "C.tx_enq", "B.rx_deq")


def test_columns_of_decoded_tables_are_compared_by_flow() -> None:
    words = random_words(300).view(np.int64)
    flow = np.arange(300) % 3
    up = pd.DataFrame({"t_ps": np.arange(300) * 10, "data": words, "flow": flow})
    down = up.iloc[np.argsort(flow, kind="stable")].drop(index=150).reset_index(drop=True)
    assert len(diff_columns(up, down, "data")) > 1
    (row,) = diff_columns(up, down, "data", flow="flow").to_dict("records")
    assert (row["op"], row["flow"], row["up_row"], row["up_t_ps"]) == ("omitted", 0, 150, 1_500)
    assert int(down["flow"].to_numpy()[row["down_row"]]) == 0
    with pytest.raises(
        InputError, match="up: the table has no column 'word'; it has t_ps, data, flow"
    ):
        diff_columns(up, down, "word")


def test_the_picture_shows_every_kind_and_the_words_of_the_first_difference(tmp_path: Path) -> None:
    diff = compare_taps(damaged(tmp_path), "A.tx_enq", "B.rx_deq")
    drawn = draw_word_diff(
        "d", differences(diff), surroundings(diff),
        up="A.tx_enq", down="B.rx_deq", up_words=len(diff.up), down_words=len(diff.down), title="<A>",
    )  # fmt: skip
    for text in ("omitted 1", "duplicated 1", "altered 1", "&lt;A&gt;", "word 4"):
        assert text in drawn
    assert isinstance(diff_words(np.array([1]), np.array([1])), WordDiff)
