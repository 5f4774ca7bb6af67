"""A memory that holds something else than was stored: told by its own rules, or by all other taps, with the bit."""

from __future__ import annotations

import pytest

from freezeframe.analyzers.contract import Finding
from tests.analyzers.bench_pair import BODY, HEAD, TAIL, TAPS, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.witness.test_witnesses import quiet

DATA, KIND, DT = 0, 64, 68
"""The first bit of a record's data, of its kind, and of its distance in time."""

CREDIT, TIME = 4, 15


def only(explained: Explain, pair: Pair) -> Finding:
    """Return the one finding there is."""
    findings = explained(pair).findings
    assert len(findings) == 1, [finding.text for finding in findings]
    return findings[0]


def suspected(finding: Finding, device: str, memory: str, said: str) -> None:
    assert (finding.diagnosis, finding.device, finding.tap) == ("recorder-suspect", device, memory)
    assert said in finding.text


# -- by a memory's own rules -------------------------------------------------------------------------


@pytest.mark.parametrize(("bit", "kind"), [(KIND + 1, "reserved kind 0"), (KIND + 3, "kind LINK")])
def test_a_kind_that_a_tap_never_holds_is_an_upset_of_that_bit(
    explained: Explain, bit: int, kind: str
) -> None:
    pair, _ = quiet()
    pair.upsets["B", "rx_enq"] = [(BODY, 109, bit)]
    finding = only(explained, pair)
    suspected(finding, "B", "rx_enq", kind)
    assert f"Were bit {bit} of the record in slot " in finding.text


@pytest.mark.parametrize("tap", ["tx_enq", "rx_enq"])
@pytest.mark.parametrize(
    ("bit", "said"),
    [
        (DT + 2, "TIME 10 cycles after the record before"),
        (DATA + 20, "the newer records say"),
        (DATA + 62, "which no counter reaches"),
    ],
)
def test_a_time_that_is_none_is_an_upset_of_its_step_or_cycle(
    explained: Explain, tap: str, bit: int, said: str
) -> None:
    pair, _ = quiet()
    device = "A" if tap.startswith("tx") else "B"
    pair.upsets[device, tap] = [(TIME, 0, bit)]
    finding = only(explained, pair)
    suspected(finding, device, tap, said)
    assert f"Were bit {bit} of the record in slot " in finding.text


def test_a_step_that_was_saturated_is_told_by_the_time_before_it(explained: Explain) -> None:
    pair, _ = quiet()
    pair.crossings[5].gap_ps = 4_000_000
    pair.upsets["A", "tx_enq"] = [(HEAD, 10, DT + 3)]
    finding = only(explained, pair)
    suspected(finding, "A", "tx_enq", f"Were bit {DT + 3} of the record in slot ")


def test_a_stuck_address_line_is_told_by_slots_that_are_one(explained: Explain) -> None:
    class OneLineShort(Pair):
        def _memory(self, device, name, words, end, causes):  # type: ignore[no-untyped-def]
            image = super()._memory(device, name, words, end, causes)
            if (device, name) == ("B", "rx_deq"):
                for slot in range(self.depth):
                    image.records[slot & ~16] = image.records[slot | 16]
            return image

    pair = OneLineShort(causes={"A": ["host"], "B": ["host"]})
    pair.traffic(20)
    suspected(only(explained, pair), "B", "rx_deq", "differ in address bit 4 alone")


@pytest.mark.parametrize("bit", [48, 62])
def test_an_event_from_another_source_or_of_no_code_is_an_upset(
    explained: Explain, bit: int
) -> None:
    pair, _ = quiet()
    for freed in range(1, 8):
        pair.credit(50_000_000 + freed * 1_000_000, 64 * freed, arrives=False)
    assert explained(pair).findings == []
    pair.upsets["B", "event_log"] = [(CREDIT, 3, bit)]
    finding = only(explained, pair)
    suspected(finding, "B", "event_log", "a CREDIT event of code")
    assert f"Were bit {bit} of the record in slot " in finding.text


# -- by the other taps -------------------------------------------------------------------------------


@pytest.mark.parametrize("tap", TAPS)
def test_one_bit_of_many_words_that_one_tap_alone_has_otherwise_is_a_column(
    explained: Explain, tap: str
) -> None:
    pair, hit = quiet()
    words = getattr(hit, tap)
    for place in range(5, 13):
        words[place] = (BODY, words[place][1] ^ 1 << 46)
    device = "A" if tap.startswith("tx") else "B"
    suspected(only(explained, pair), device, tap, "in bit 46 of 8 words in slots")


def test_bits_that_no_check_covers_do_not_tell_which_of_two_taps_is_upset(
    explained: Explain,
) -> None:
    """A TAIL's upper half is in no CRC: its packet passes at both."""
    pair, hit = quiet()
    hit.rx_deq[-1] = (TAIL, hit.rx_deq[-1][1] ^ 1 << 41)
    for finding in explained(pair, "B").findings:
        assert (finding.diagnosis, "recorder-suspect" in finding.candidates) == (
            "undetermined",
            True,
        )


@pytest.mark.parametrize(("tap", "value"), [("tx_deq", 0), ("rx_deq", 1)])
def test_a_bit_that_is_the_same_in_every_word_of_one_memory_is_stuck(
    explained: Explain, tap: str, value: int
) -> None:
    pair, _ = quiet()
    for words in (getattr(crossing, tap) for crossing in pair.crossings if crossing.sender == "A"):
        words[:] = [(k, d & ~(1 << 22) | value << 22) for k, d in words]
    device = "A" if tap.startswith("tx") else "B"
    finding = only(explained, pair)
    suspected(finding, device, tap, f"bit 22, which is {value} in every word of this memory")


@pytest.mark.parametrize("tap", TAPS)
def test_a_word_that_is_a_tail_at_one_tap_alone_is_an_upset_of_its_kind(
    explained: Explain, tap: str
) -> None:
    pair, hit = quiet()
    words = getattr(hit, tap)
    words[9] = (TAIL, words[9][1])
    device = "A" if tap.startswith("tx") else "B"
    suspected(only(explained, pair), device, tap, "in bit 64 of the word in slot")


@pytest.mark.parametrize("tap", ["tx_enq", "rx_enq", "rx_deq"])
@pytest.mark.parametrize("doubled", [False, True])
def test_a_word_that_one_memory_alone_has_not_or_has_twice_was_not_recorded_as_it_crossed(
    explained: Explain, tap: str, *, doubled: bool
) -> None:
    pair, hit = quiet()
    words = getattr(hit, tap)
    words[9:10] = [words[9]] * (2 if doubled else 0)
    device = "A" if tap.startswith("tx") else "B"
    said = "1 word where 0 crossed" if doubled else "0 words where 1 crossed"
    suspected(only(explained, pair), device, tap, said)


def test_what_both_taps_of_the_receiver_hold_is_nothing_of_the_recorder(explained: Explain) -> None:
    pair, hit = quiet(errors=1)
    for words in (hit.rx_enq, hit.rx_deq):
        for place in range(5, 13):
            words[place] = (BODY, words[place][1] ^ 1 << 46)
    assert "recorder-suspect" not in [f.diagnosis for f in explained(pair).findings]


def test_where_a_checker_counted_the_packet_the_last_tap_is_not_suspect(explained: Explain) -> None:
    pair, hit = quiet(errors=1)
    for place in range(5, 13):
        hit.rx_deq[place] = (BODY, hit.rx_deq[place][1] ^ 1 << 46)
    findings = explained(pair).findings
    assert findings and "recorder-suspect" not in [f.diagnosis for f in findings]


def test_a_fault_beside_an_upset_memory_is_still_named(explained: Explain) -> None:
    pair, hit = quiet(errors=1)
    pair.causes = {"A": ["host"], "B": ["pay-crc"]}
    for words in (hit.rx_enq, hit.rx_deq):
        words[9] = (BODY, words[9][1] ^ 1 << 17)
    pair.upsets["A", "tx_enq"] = [(BODY, 40, KIND + 3)]
    names = {finding.diagnosis for finding in explained(pair).findings}
    assert names == {"payload-bit-flip", "recorder-suspect"}
