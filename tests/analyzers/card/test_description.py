"""Recordings that a card file describes wrongly, cut short or out of one time: what is said, and what is not."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from tests.campaign.card_model import frame
from tests.decoders.tap.model import TapModel, frame_beats

PREAMBLE = bytes.fromhex("55555555555555d5")
BASE = """\
schema = 1
[card]
name = "c"
[clock.bus]
hz = 100_000_000
registers = true
[clock.x]
hz = 100_000_000
"""
PATH = '[path.p]\ntaps = ["a", "b"]\n'


def tap(name: str, more: str = "", *, form: str = "f", clock: str = "bus", bits: int = 64) -> str:
    keep = "" if bits == 8 or "keep" in more else 'keep = "tail"\n'
    return (
        f'[tap.{name}]\nkind = "axi-stream"\nclock = "{clock}"\nbits = {bits}\nformat = "{form}"\n'
        f"{keep}{more}\n"
    )


ETHERNET = '[format.f]\nis = "ethernet"\n'
TWO = BASE + ETHERNET + tap("a") + tap("b") + PATH


def recording(
    text: str,
    passed: Mapping[str, Sequence[bytes]],
    *,
    begin: Mapping[str, int] | None = None,
    step: int = 220,
    related: bool = True,
    bad: Mapping[str, Sequence[int]] | None = None,
    causes: int = 1,
    closed: int = 0,
    broken_off: Mapping[str, int] | None = None,
) -> CardRecording:
    """Return a recording of packets, each ``step`` cycles after the one before at its tap, from ``begin`` on.

    Of a tap's last packet so many beats come as ``broken_off`` says.
    """
    card = elaborate(parse_card(text))
    taps = {}
    models = []
    for place, each in enumerate(card.taps):
        model = TapModel(each.stream_bytes, latency=each.latency_cycles)
        at = (begin or {}).get(each.name, 100 + 40 * place)
        for n, data in enumerate(passed.get(each.name, ())):
            flagged = n in (bad or {}).get(each.name, ())
            if data:
                beats = frame_beats(data, at + n * step, each.stream_bytes, bad=flagged)
                last = n == len(passed[each.name]) - 1
                model.feed(beats[: (broken_off or {}).get(each.name) if last else None])
        models.append((each, model))
    closed = closed or 80 + max((m.records[-1][0] for _, m in models if m.records), default=0)
    for each, model in models:
        lanes, pointer, wrapped, _ = model.memories(each.said.depth, closed)
        taps[each.name] = RecordedTap(each, tuple(lanes), pointer, wrapped)
    clocks = [
        RecordedClock(c, c.said.hz, Toggle(0, 2), Toggle(closed // 4096, closed // 4096 * 4096 + 2))
        if related or c.name == "bus"
        else RecordedClock(c, c.said.hz)
        for c in card.clocks
    ]
    return CardRecording(
        card, taps, clocks, Feature.COUNTERS | Feature.TIME_PAIRS, causes=causes, cause_cycle=closed
    )


def frames(count: int = 12, seed: int = 7) -> list[bytes]:
    chance = random.Random(seed)
    return [frame(chance, n, chance.randint(90, 160)) for n in range(count)]


def names(found: CardExplanation) -> list[str]:
    return [finding.diagnosis for finding in found.findings]


def only_unfit(found: CardExplanation) -> str:
    """Return the text of the one answer there is: that the description does not fit."""
    assert names(found) == ["description-does-not-fit"]
    return str(found.findings[0].text)


# A wrong word in the card file, and healthy traffic


def test_an_fcs_that_was_stripped_is_not_called_bad() -> None:
    sent = [data[:-4] for data in frames()]
    assert "0 pass" in only_unfit(explain_card(recording(TWO, {"a": sent, "b": sent})))


def test_an_fcs_that_is_there_and_not_said_is_seen() -> None:
    text = TWO.replace('is = "ethernet"', 'is = "ethernet"\nfcs = "stripped"')
    sent = frames()
    assert 'say fcs = "present"' in only_unfit(
        explain_card(recording(text, {"a": sent, "b": sent}))
    )


def test_frames_of_full_size_with_their_fcs_are_no_giants_where_the_file_says_stripped() -> None:
    text = TWO.replace('is = "ethernet"', 'is = "ethernet"\nfcs = "stripped"')
    chance = random.Random(1)
    sent = [frame(chance, n, 1518) for n in range(6)]
    assert 'say fcs = "present"' in only_unfit(
        explain_card(recording(text, {"a": sent, "b": sent}, step=300))
    )


@pytest.mark.parametrize("said", [True, False])
def test_a_preamble_that_is_said_wrongly_is_named(said: bool) -> None:
    text = TWO.replace('is = "ethernet"', f'is = "ethernet"\npreamble = {str(said).lower()}')
    sent = [data if said else PREAMBLE + data for data in frames()]
    found = only_unfit(explain_card(recording(text, {"a": sent, "b": sent})))
    assert f"say preamble = {str(not said).lower()}" in found


@pytest.mark.parametrize("size", [2, 4, 8])
def test_bytes_in_another_order_are_named(size: int) -> None:
    chance = random.Random(3)
    made = [frame(chance, n, 8 * chance.randint(9, 20)) for n in range(12)]
    turned = [b"".join(d[i : i + size][::-1] for i in range(0, len(d), size)) for d in made]
    found = only_unfit(explain_card(recording(TWO, {"a": turned, "b": turned})))
    assert f"the bytes of each {size} stand in the other order" in found


def test_a_stream_whose_keep_is_not_recorded_is_named_though_some_frames_pass() -> None:
    text = TWO.replace('keep = "tail"', 'keep = "none"')
    made = frames(16)
    padded = [data + b"\xee" * (-len(data) % 8) for data in made]
    assert any(len(data) % 8 == 0 for data in made)
    assert "keep is not recorded" in only_unfit(
        explain_card(recording(text, {"a": padded, "b": padded}))
    )


def test_another_format_is_not_believed() -> None:
    own = '[format.f]\nis = "fields"\n[format.f.field.m]\nat_bit = 0\nbits = 8\nconstant = 9\n'
    text = BASE + own + tap("a") + tap("b") + PATH
    sent = frames()
    found = only_unfit(explain_card(recording(text, {"a": sent, "b": [*sent[:5], *sent[6:]]})))
    assert "a field that is constant holds another value" in found


def test_the_format_of_a_later_tap_is_what_is_wrong_where_the_same_bytes_pass_before_it() -> None:
    more = '[format.g]\nis = "ethernet"\npreamble = true\n'
    text = BASE + ETHERNET + more + tap("a") + tap("b", form="g") + PATH
    sent = frames()
    found = explain_card(recording(text, {"a": sent, "b": sent}))
    assert "at b" in only_unfit(found)


def test_a_path_in_the_wrong_order_is_told_by_the_times() -> None:
    text = TWO.replace('taps = ["a", "b"]', 'taps = ["b", "a"]')
    sent = frames()
    gone = [*sent[:4], b"", *sent[5:]]
    found = only_unfit(explain_card(recording(text, {"a": sent, "b": gone})))
    assert "stand at a before they stand at b" in found


def test_a_stretch_that_rewrites_and_does_not_say_so_is_named() -> None:
    sent = frames()
    routed = [b"\x02" + bytes(4) + b"\x09" + data[6:-4] for data in sent]
    routed = [data + struct.pack("<I", zlib.crc32(data)) for data in routed]
    found = only_unfit(explain_card(recording(TWO, {"a": sent, "b": routed})))
    assert "the stretch rewrites them" in found


def test_some_packets_that_are_rewritten_are_not_called_altered_for_certain() -> None:
    sent = frames()
    routed = [
        data
        if n % 3
        else (new := b"\x02" + data[1:5] + b"\x09" + data[6:-4])
        + struct.pack("<I", zlib.crc32(new))
        for n, data in enumerate(sent)
    ]
    assert set(names(explain_card(recording(TWO, {"a": sent, "b": routed})))) <= {"undetermined"}


def test_a_stretch_that_changes_every_packet_or_a_wrong_format_behind_it_is_left_open() -> None:
    sent = frames()
    spoilt = [data[:20] + bytes([data[20] ^ 1]) + data[21:] for data in sent]
    found = explain_card(recording(TWO, {"a": sent, "b": spoilt}))
    assert names(found) and set(names(found)) == {"undetermined"}


def test_the_user_bit_the_other_way_round_does_not_make_every_frame_bad() -> None:
    text = BASE + '[format.f]\nis = "ethernet"\nfcs = "user-bit"\n[format.g]\nis = "raw"\n'
    text += tap("a", "user = { bits = 1, bad_frame = 0 }") + tap("b", form="g") + PATH
    sent = [data[:-4] for data in frames()]
    made = recording(text, {"a": sent, "b": sent}, bad={"a": range(12)})
    assert "the user bit" in only_unfit(explain_card(made))


def test_most_frames_shorter_than_ethernet_allows_may_be_what_the_card_carries() -> None:
    chance = random.Random(3)
    sent = [frame(chance, n, 50 if n % 3 else 90) for n in range(12)]
    found = explain_card(recording(TWO, {"a": sent, "b": sent}))
    assert [f.candidates for f in found.findings] == [("runt", "description-does-not-fit")]


def test_a_few_runts_without_an_fcs_are_runts_and_the_description_stands() -> None:
    text = TWO.replace('is = "ethernet"', 'is = "ethernet"\nfcs = "stripped"')
    chance = random.Random(3)
    sent = [frame(chance, n, 48 if n < 4 else 90)[:-4] for n in range(16)]
    assert names(explain_card(recording(text, {"a": sent, "b": sent}))) == ["runt"]


def without_heads(recorded: CardRecording, *taps: str) -> CardRecording:
    """Return a recording whose first words at these taps are not a packet's: BODY in place of HEAD."""
    for tap in taps:
        recorded.taps[tap].lanes[0][0, 8] ^= 1 ^ 2
    return recorded


# Captures that hold little


def test_one_bad_frame_is_told_where_head_says_that_it_began_after_the_arm() -> None:
    one = frames(1)[0]
    found = explain_card(recording(TWO, {"a": [one[:-1] + b"\0"], "b": []}))
    assert [f.candidates for f in found.findings] == [
        ("bad-on-arrival", "description-does-not-fit")
    ]


def test_one_frame_that_is_bad_may_have_begun_before_the_arm_where_no_head_is_there() -> None:
    one = frames(1)[0]
    found = explain_card(without_heads(recording(TWO, {"a": [one[:-1] + b"\0"], "b": []}), "a"))
    assert (names(found), found.answer) == ([], "nothing found, and not all could be looked at")


def test_a_tap_that_was_armed_in_the_middle_of_a_frame_has_no_runt() -> None:
    sent = frames()
    seen = {"a": [sent[0][40:], *sent[1:]], "b": [sent[0][64:], *sent[1:]]}
    assert names(explain_card(without_heads(recording(TWO, seen), "a", "b"))) == []
    raw = TWO.replace('is = "ethernet"', 'is = "raw"')
    assert names(explain_card(without_heads(recording(raw, seen), "a", "b"))) == []


def test_two_frames_of_which_both_are_bad_decide_nothing() -> None:
    sent = [data[:-1] + b"\0" for data in frames(3)]
    found = explain_card(recording(TWO, {"a": sent, "b": []}))
    assert [f.candidates for f in found.findings] == [
        ("bad-on-arrival", "description-does-not-fit")
    ]


def test_one_good_frame_is_no_fault_and_the_answer_says_what_it_rests_on() -> None:
    one = frames(1)
    found = explain_card(recording(TWO, {"a": one, "b": one}))
    assert found.answer == "no fault found"
    assert found.looked_at[0] == "a: 1 packet, 1 of 1 pass their checks"


def test_an_empty_recording_is_not_called_free_of_faults() -> None:
    found = explain_card(recording(TWO, {}))
    assert found.answer == "nothing found, and not all could be looked at"
    assert found.not_seen == ["no memory holds a whole packet"]


def test_memories_of_different_times_are_not_compared() -> None:
    sent = frames(30)
    made = recording(TWO, {"a": sent[20:], "b": sent[:10]}, begin={"a": 8000, "b": 100})
    found = explain_card(made)
    assert names(found) == []
    assert any("unlike all others stands at both taps" in line for line in found.not_asked)


def test_memories_that_overlap_in_part_are_compared_there_alone() -> None:
    sent = frames(30)
    lost = [b"" if n == 17 else data for n, data in enumerate(sent)]
    made = recording(TWO, {"a": sent[12:], "b": lost}, begin={"a": 100 + 12 * 220, "b": 160})
    found = explain_card(made)
    assert [(f.diagnosis, f.packet) for f in found.findings] == [("packet-dropped", 5)]


@pytest.mark.parametrize("related", [True, False])
def test_the_same_bytes_sent_again_hours_later_are_not_the_same_packet(related: bool) -> None:
    """The second memory holds the older part, and one keep-alive frame stands in both by chance."""
    text = BASE + ETHERNET + tap("a") + tap("b", clock="x") + PATH
    alike = frames(2, seed=1)
    late, early = frames(10, seed=2), frames(10, seed=3)
    made = recording(
        text,
        {"a": [*late[:3], alike[0], *late[3:6], alike[1], *late[6:]],
         "b": [*early[:3], alike[0], *early[3:6], alike[1], *early[6:]]},
        begin={"a": 9000, "b": 100},
        related=related,
    )  # fmt: skip
    assert names(explain_card(made)) == []


def test_an_old_copy_of_a_packet_at_the_memory_s_end_is_no_reordering() -> None:
    sent = frames(12)
    made = recording(TWO, {"a": [*sent, sent[0]][1:], "b": sent[:10]}, begin={"a": 320, "b": 160})
    assert names(explain_card(made)) == []


def test_no_time_between_the_clocks_leaves_drops_provable_by_their_neighbours() -> None:
    text = BASE + ETHERNET + tap("a") + tap("b", clock="x") + PATH
    sent = frames()
    made = recording(text, {"a": sent, "b": [*sent[:5], *sent[6:]]}, related=False)
    found = explain_card(made)
    assert [(f.diagnosis, f.packet) for f in found.findings] == [("packet-dropped", 5)]
    assert any("no toggle of the time line" in line for line in found.notes)


@pytest.mark.parametrize("bits", [(8, 512), (512, 8)])
def test_a_change_of_width_with_a_drop_on_it_is_a_drop(bits: tuple[int, int]) -> None:
    text = BASE + ETHERNET + tap("a", bits=bits[0]) + tap("b", bits=bits[1]) + PATH
    sent = frames()
    made = recording(text, {"a": sent, "b": [*sent[:5], b"", *sent[6:]]}, begin={"b": 500})
    assert [(f.diagnosis, f.packet) for f in explain_card(made).findings] == [("packet-dropped", 5)]


def test_a_burst_that_never_ends_is_not_called_a_drop_nor_a_certain_stall() -> None:
    drops = '[[path.p.stretch]]\ndrops = { counter = "lost" }\n[counter.lost]\nwire = "l"\nclock = "bus"\n'
    sent = frames(40)
    made = recording(TWO + drops, {"a": sent, "b": sent[:6]}, closed=60_000)
    found = explain_card(replace(made, counters={"lost": 34}))
    assert set(names(found)) == {"undetermined"}
    assert found.findings[0].candidates == ("stalled", "packet-dropped")


def test_a_packet_that_broke_off_is_a_stall_though_whole_packets_were_dropped_since() -> None:
    drops = '[[path.p.stretch]]\ndrops = { counter = "lost"%s }\n[counter.lost]\nwire = "l"\nclock = "bus"\n'
    sent = frames(40)
    for whole, candidates in (("", ()), (", whole = false", ("stalled", "packet-dropped"))):
        made = recording(
            TWO + drops % whole, {"a": sent, "b": sent[:6]}, closed=60_000, broken_off={"b": 4}
        )
        found = explain_card(replace(made, counters={"lost": 34}))
        assert found.findings[0].candidates == candidates
        assert found.findings[0].tap == "b"


def test_a_packet_that_broke_off_at_both_taps_does_not_wait_between_them() -> None:
    sent = frames()
    for beats, said in ((4, []), (3, ["stalled"])):
        broken = {"a": 4, "b": beats}
        made = recording(TWO, {"a": sent, "b": sent}, closed=60_000, broken_off=broken)
        assert names(explain_card(made)) == said


def test_equal_packets_of_which_one_is_missing_are_told_together() -> None:
    sent = frames(12)
    sent[4:8] = [sent[4]] * 4
    found = explain_card(recording(TWO, {"a": sent, "b": [*sent[:5], b"", *sent[6:]]}))
    (finding,) = found.findings
    assert (finding.diagnosis, finding.packet) == ("packet-dropped", None)
    assert finding.text.startswith("One of the packets 4, 5, 6, 7 of a")


def test_a_dropped_packet_beside_an_altered_one_that_looks_like_it_is_not_taken_for_it() -> None:
    """Frames that differ in a counter alone: the nearest one is the same packet."""

    def counted(n: int) -> bytes:
        body = frame(random.Random(1), 1, 120)[:-4]
        body = body[:60] + n.to_bytes(2, "big") + body[62:]
        return body + struct.pack("<I", zlib.crc32(body))

    sent = [counted(n) for n in range(12)]
    altered = sent[6][:80] + bytes([sent[6][80] ^ 1]) + sent[6][81:]
    found = explain_card(recording(TWO, {"a": sent, "b": [*sent[:5], b"", altered, *sent[7:]]}))
    assert {(f.diagnosis, f.packet) for f in found.findings} == {
        ("packet-dropped", 5),
        ("bits-altered", 6),
    }


# What other witnesses say

THREE = BASE + ETHERNET + tap("a") + tap("b") + tap("c") + '[path.p]\ntaps = ["a", "b", "c"]\n'


@pytest.mark.parametrize("what", ["altered", "missing"])
def test_a_tap_that_disagrees_with_both_its_neighbours_is_the_suspect(what: str) -> None:
    sent = frames()
    wrong = sent[5][:30] + bytes([sent[5][30] ^ 4]) + sent[5][31:] if what == "altered" else b""
    seen = {"a": sent, "b": [*sent[:5], wrong, *sent[6:]], "c": sent}
    found = explain_card(recording(THREE, seen))
    assert found.findings and set(names(found)) == {"undetermined"}
    assert all("recorder-suspect" in f.candidates for f in found.findings)


def test_an_older_packet_of_the_same_bytes_behind_does_not_make_the_recorder_suspect() -> None:
    sent = frames()
    sent[6] = sent[0]
    wrong = sent[6][:30] + bytes([sent[6][30] ^ 4]) + sent[6][31:]
    changed = [*sent[:6], wrong, *sent[7:]]
    found = explain_card(recording(THREE, {"a": sent, "b": changed, "c": changed}))
    assert [(f.diagnosis, f.packet, f.tap) for f in found.findings] == [("bits-altered", 6, "b")]


def test_a_packet_that_is_bad_at_the_first_tap_and_good_behind_it_was_not_bad() -> None:
    sent = frames()
    wrong = sent[5][:30] + bytes([sent[5][30] ^ 4]) + sent[5][31:]
    found = explain_card(recording(TWO, {"a": [*sent[:5], wrong, *sent[6:]], "b": sent}))
    assert set(names(found)) == {"undetermined"}


def test_a_bad_packet_at_a_later_tap_is_told_where_the_first_one_did_not_see_it() -> None:
    sent = frames(20)
    spoilt = [data[:-1] + bytes([data[-1] ^ 1]) if n == 2 else data for n, data in enumerate(sent)]
    made = recording(TWO, {"a": sent[10:], "b": spoilt[:16]}, begin={"a": 100 + 2200, "b": 160})
    found = explain_card(made)
    assert [f.candidates for f in found.findings] == [("bad-on-arrival", "bits-altered")]


def test_a_tap_on_no_path_is_judged_too() -> None:
    sent = frames()
    sent[3] = sent[3][:-1] + bytes([sent[3][-1] ^ 1])
    found = explain_card(recording(BASE + ETHERNET + tap("a"), {"a": sent}))
    assert [(f.diagnosis, f.packet) for f in found.findings] == [("bad-on-arrival", 3)]


# What is never called free of faults


def test_a_cause_of_the_card_that_nothing_accounts_for_is_a_finding() -> None:
    text = TWO + '[cause.bad]\ncheck = "fcs"\ntap = "a"\n'
    sent = frames()
    made = recording(text, {"a": sent, "b": sent}, causes=1 << 3)
    found = explain_card(made)
    assert names(found) == ["none-of-the-known"]
    assert "frozen by bad (fcs at a)" in found.findings[0].text
    assert explain_card(replace(made, causes=1)).answer == "no fault found"
    assert explain_card(replace(made, causes=2)).answer == "no fault found"
    by_peer = explain_card(replace(made, causes=4))
    assert (names(by_peer), by_peer.answer) == ([], "nothing found, and not all could be looked at")


def test_a_memory_that_was_not_read_is_never_called_free_of_faults() -> None:
    sent = frames()
    made = recording(TWO, {"a": sent, "b": sent})
    gone = explain_card(replace(made, taps={"a": made.taps["a"]}))
    assert (gone.answer, gone.not_seen) == (
        "nothing found, and not all could be looked at",
        ["b: its memory was not read"],
    )
    holed = replace(made.taps["b"], gaps=((range(30, 32),),))
    part = explain_card(replace(made, taps={**made.taps, "b": holed}))
    assert part.not_seen == ["b: a part of its memory was not read"]
    damaged = tuple(lane.copy() for lane in made.taps["b"].lanes)
    damaged[0][20, 8] = 9
    found = explain_card(
        replace(made, taps={**made.taps, "b": replace(made.taps["b"], lanes=damaged)})
    )
    assert found.not_seen == ["b: its memory holds what no recorder stores"]
    assert "no fault found" not in found.answer


def test_holes_in_keep_are_the_description_s_fault_where_many_have_them_and_left_open_where_one_has() -> (
    None
):
    sent = frames()
    made = recording(TWO, {"a": sent, "b": sent})

    def holed(count: int) -> CardRecording:
        lanes = made.taps["a"].lanes[0].copy()
        heads = [n for n in range(len(lanes)) if lanes[n, 8] & 15 == 1][1 : count + 1]
        for n in heads:  # byte 2 of the first word is off
            lanes[n, 2], lanes[n, 7], lanes[n, 8] = lanes[n, 7], 0xFB, lanes[n, 8] & 0xF0 | 4
        return replace(made, taps={**made.taps, "a": replace(made.taps["a"], lanes=(lanes,))})

    assert 'say keep = "any"' in only_unfit(explain_card(holed(11)))
    assert ("none-of-the-known", "description-does-not-fit") in [
        f.candidates for f in explain_card(holed(1)).findings
    ]


def test_the_last_packet_before_a_pause_may_be_lost_or_wait() -> None:
    sent = frames()
    found = explain_card(recording(TWO, {"a": sent, "b": sent[:-1]}, closed=60_000))
    assert [f.candidates for f in found.findings] == [("stalled", "packet-dropped")]


@pytest.mark.parametrize("how", ["a bit is turned", "nothing of it is left"])
def test_the_last_packet_before_a_pause_that_came_out_changed_does_not_wait(how: str) -> None:
    sent = frames()
    turned = sent[-1][:30] + bytes([sent[-1][30] ^ 4]) + sent[-1][31:]
    last = turned if how == "a bit is turned" else bytes(range(200))
    found = explain_card(recording(TWO, {"a": sent, "b": [*sent[:-1], last]}, closed=60_000))
    assert "stalled" not in names(found)
    assert ("bits-altered" in names(found)) == (how == "a bit is turned")


def test_no_stall_is_told_of_a_memory_whose_newest_records_were_not_read() -> None:
    sent = frames()
    made = recording(TWO, {"a": sent, "b": sent}, closed=60_000)
    pointer = made.taps["b"].write_ptr
    holed = replace(made.taps["b"], gaps=((range(pointer // 2, pointer - 2),),))
    assert names(explain_card(replace(made, taps={**made.taps, "b": holed}))) == []


def test_drops_that_a_counter_tells_stand_beside_no_fault_found() -> None:
    drops = '[[path.p.stretch]]\ndrops = { counter = "lost" }\n[counter.lost]\nwire = "l"\nclock = "bus"\n'
    sent = frames()
    made = replace(recording(TWO + drops, {"a": sent, "b": sent}), counters={"lost": 21})
    found = explain_card(made)
    assert (names(found), found.answer) == ([], "no fault found")
    assert "lost: 21 since reset, with those from before the memories" in found.looked_at
