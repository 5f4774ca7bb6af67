"""Tracks in groups: what each is about, which are open, what a search and a preset choose."""

from __future__ import annotations

import numpy as np
import pytest

from freezeframe.gui.desktop.track_tree import (
    MOST_OPEN,
    PRESETS,
    TrackChoice,
    found,
    offered,
    opened_by,
    tree_of,
)
from freezeframe.gui.tracks.said import Meaning, legend_of, one_swatch_each
from freezeframe.gui.tracks.topics import about, group_name
from freezeframe.gui.tracks.tracks import MarkTrack, SeriesTrack, SliceTrack, Track


def one(key: str, name: str = "", items: int = 1) -> Track:
    t_ps = np.arange(items, dtype=np.int64)
    return SliceTrack(key=key, name=name or key, source="x.ff", t_ps=t_ps, t_end_ps=t_ps + 1)


@pytest.mark.parametrize(
    ("key", "topic", "device"),
    [
        ("1/findings", "marks", ""),
        ("1/compare/A.tx_enq/first", "marks", ""),
        ("1/packets/A.tx_enq", "packets", "A"),
        ("1/words/B.rx_deq", "packets", "B"),
        ("1/packets/17/0/operations", "packets", "connection 17"),
        ("1/packets/17/1/rate", "throughput", "connection 17"),
        ("1/intervals/A.event_log", "back-pressure", "A"),
        ("1/events/B.event_log/CREDIT", "credits", "B"),
        ("1/events/B.event_log/IRQ", "host", "B"),
        ("1/events/A.event_log/NOTE", "events", "A"),
        ("1/events/closed", "recording", ""),
        ("1/state/A.event_log/tx_dma", "states", "A"),
        ("1/credits/series/A->B.flow0.outstanding", "credits", "A->B"),
        ("1/dma/intervals/0/A.transfers/2", "host", "A"),
        ("1/throughput/table/samples", "tables", ""),
        ("1/own-analysis/series/A.odd", "own-analysis", "A"),
        ("1/wave/CLK.1", "signals", ""),
        ("1/table/mdio", "decoded", ""),
        ("1/live/A.bus_cycles", "counters", "A"),
        ("1/live-log", "counters", ""),
    ],
)
def test_a_key_says_what_its_track_is_about(key: str, topic: str, device: str) -> None:
    assert about(one(key)) == (topic, device)


def test_a_preset_opens_fifteen_tracks_evidence_first_then_by_topic() -> None:
    tracks = [
        MarkTrack(key="1/findings", name="findings"),
        *(one(f"1/packets/A.tap{n}") for n in range(10)),
        *(one(f"1/words/A.tap{n}") for n in range(10)),
        one("1/intervals/A.event_log"),
        *(one(f"1/state/A.event_log/m{n}") for n in range(4)),
        one("1/throughput/table/flows"),
    ]
    opened = opened_by(PRESETS["fault"], tracks, ["1/words/A.tap9"])
    assert len(opened) == MOST_OPEN == 15
    assert {"1/findings", "1/words/A.tap9", "1/intervals/A.event_log"} < opened
    assert {f"1/packets/A.tap{n}" for n in range(10)} < opened
    assert {f"1/state/A.event_log/m{n}" for n in range(2)} < opened  # what room was left for
    assert opened_by(PRESETS["all"], tracks) == {track.key for track in tracks}


def test_tracks_that_hold_nothing_and_further_lanes_come_last() -> None:
    tracks = [one("1/packets/A.empty", items=0), one("1/dma/intervals/0/A.t/2", "A t (2)")]
    tracks += [one(f"1/packets/A.t{n}") for n in range(15)]
    opened = opened_by(PRESETS["fault"], tracks)
    assert opened == {f"1/packets/A.t{n}" for n in range(15)}


def test_by_hand_and_pins_stand_above_the_preset_until_another_is_chosen() -> None:
    tracks = [one("1/packets/A.tx"), one("1/credits/series/A->B.x"), one("1/state/A.l/m")]
    choice = TrackChoice("credits", pins={"1/state/A.l/m"})
    assert choice.hidden(tracks) == set()
    choice.by_hand["1/packets/A.tx"] = False
    assert choice.hidden(tracks) == {"1/packets/A.tx"}
    assert next(t.key for t in choice.order(tracks)) == "1/state/A.l/m"
    assert choice.group_of(tracks)["1/state/A.l/m"] == "pinned"
    choice.take_preset("host")
    assert choice.hidden(tracks) == {"1/credits/series/A->B.x"}
    with pytest.raises(KeyError):
        choice.take_preset("nothing of this name")


def test_a_search_shows_exactly_what_holds_all_its_words() -> None:
    tracks = [one("1/packets/A.tx_deq", "A.tx_deq packets"), one("1/words/A.tx_deq", "words"),
              one("1/state/B.log/tx_dma", "B tx_dma")]  # fmt: skip
    assert found(tracks, "TX a.") == ["1/packets/A.tx_deq", "1/words/A.tx_deq"]
    choice = TrackChoice(search="states b")
    assert choice.hidden(tracks) == {"1/packets/A.tx_deq", "1/words/A.tx_deq"}
    assert found(tracks, "nowhere") == []


def test_the_tree_is_by_device_and_topic() -> None:
    tracks = [one("1/state/B.l/m"), one("1/packets/A.tx"), one("1/words/A.tx"), one("1/findings")]
    tree = tree_of(tracks)
    assert [b.title for b in tree] == ["all of it", "A", "B"]
    assert [(b.title, len(b.tracks)) for b in tree[1].branches] == [("packets", 2)]
    assert group_name(tracks[0]) == "B states"


def test_a_preset_is_offered_where_it_would_show_something() -> None:
    assert offered([one("1/wave/CLK"), one("1/findings")]) == ["fault", "signals", "all"]


def test_the_legend_has_the_colours_that_occur_each_once() -> None:
    track = SliceTrack(
        key="1/packets/A.tx", name="a", t_ps=np.array([0, 5], np.int64),
        t_end_ps=np.array([1, 6], np.int64), colour=np.array([2, 2], np.uint8),
        classes=("SEND", "READ", "WRITE"), error=np.array([False, True]),
    )  # fmt: skip
    series = SeriesTrack(key="1/s", name="s", limit=3.0, limit_label="the link")
    assert legend_of([track, track, series]) == [
        Meaning("c", "WRITE", "packets"), Meaning("error", "fails a check", "packets"),
        Meaning("limit", "the link", "s"),
    ]  # fmt: skip


def test_no_two_swatches_of_a_legend_look_alike() -> None:
    entries = [("a", "RDMA_WRITE"), ("b", "HEAD"), ("a", "sent"), ("tick a", "sent"), ("a", "sent")]
    assert one_swatch_each(entries) == [
        Meaning("a", "RDMA_WRITE, sent"), Meaning("b", "HEAD"), Meaning("tick a", "sent"),
    ]  # fmt: skip


def test_a_colour_that_means_something_else_in_another_kind_of_track_stands_under_its_heading() -> (
    None
):
    packets = [Meaning("a", "RDMA_WRITE", "packets"), Meaning("error", "fails a check", "packets")]
    words = [Meaning("b", "HEAD", "words"), Meaning("a", "BODY", "words")]
    decoded = [Meaning("error", "fails a check", "decoded")]
    assert one_swatch_each([*packets, *words, *decoded, ("hatch", "not recorded")]) == [
        Meaning("", "packets", "packets"), Meaning("a", "RDMA_WRITE", "packets"),
        Meaning("", "words", "words"), Meaning("b", "HEAD", "words"), Meaning("a", "BODY", "words"),
        Meaning("error", "fails a check"), Meaning("hatch", "not recorded"),
    ]  # fmt: skip
    assert one_swatch_each(packets) == [(look, text, "") for look, text, _ in packets]


def test_a_legend_that_was_made_can_be_made_again() -> None:
    made = one_swatch_each([Meaning("a", "RDMA_WRITE", "packets"), Meaning("a", "BODY", "words")])
    assert one_swatch_each(made) == made
