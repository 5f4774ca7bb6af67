"""A name stands up to every witness, or it is a candidate; one tap or register that all else contradicts is suspect."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.witness import gate
from freezeframe.analyzers.witness.declared import read_fault, shipped
from freezeframe.analyzers.witness.gate import Count, counted_for
from freezeframe.analyzers.witness.own_faults import learned, own_faults
from freezeframe.analyzers.witness.page import pages
from freezeframe.analyzers.witness.vocabulary import WITNESSES
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder, Gap
from freezeframe.emulator.faults.registry import FAULTS
from freezeframe.gui.cli.explanation_text import confidence_text
from tests.analyzers.bench_pair import Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import alter
from tests.analyzers.diagnosis.test_general import OF_WHOLE_PACKETS
from tests.analyzers.diagnosis.test_word_faults import PAY, busy
from tests.gui.made_capture import made_capture

QUIET = {"A": ["host"], "B": ["host"]}


def quiet(errors: int = 0) -> tuple[Pair, Crossing]:
    """Return a pair that its host froze, and whose receiver counted so many bad payloads."""
    pair, hit = busy(causes=QUIET)
    pair.set("B", "ctl.generation", value=1)
    for name in ("header_errors", "length_errors"):
        pair.counter("B", name, 0)
    pair.counter("B", "payload_errors", errors)
    return pair, hit


def upset(hit: Crossing, tap: str, place: int, bit: int) -> None:
    """Flip a bit in the memory of one tap alone."""
    words = getattr(hit, tap)
    kind, data = words[place]
    words[place] = (kind, data ^ 1 << bit)


# -- a hole in a memory ----------------------------------------------------------------------------


def _told(path: Path, tap: str, first_slot: int, slots: int) -> tuple[Finding, dict[str, str]]:
    """Explain a capture in which packet 7 lost a word in A's FIFO (slots 196 to 221 of A.tx_deq), with a hole."""
    folder = made_capture(path / f"{first_slot}.ff")
    sender, receiver = folder.devices
    whole = sender.memories[tap]
    records = whole.records.copy()
    records[first_slot : first_slot + slots] = 0
    holed = replace(whole, records=records, gaps=[Gap(first_slot, slots, "damaged")])
    sender = replace(sender, memories={**sender.memories, tap: holed})
    told = explain(CaptureFolder(folder.path, folder.manifest, [sender, receiver]))
    finding = told.findings[0]
    return finding, {one.name: one.text for one in finding.witnesses}


def test_across_a_hole_two_taps_agree_in_what_both_recorded_and_no_more(tmp_path: Path) -> None:
    finding, said = _told(tmp_path, "tx_deq", 199, 12)
    assert finding.diagnosis == "undetermined" and "word-omitted" in finding.candidates
    assert said["words"] == (
        "A.tx_enq and A.tx_deq agree in 3 of 27 words; the rest was not recorded at both"
    )
    _, said = _told(tmp_path, "tx_deq", 205, 12)
    assert said["words"] == (
        "of A.tx_enq and A.tx_deq, A.tx_deq lacks one word, and has the rest of what both recorded"
    )


def test_a_packet_that_stood_in_a_hole_is_found_behind_it_by_its_number(tmp_path: Path) -> None:
    finding, said = _told(tmp_path, "tx_deq", 0, 256)
    assert (finding.tap, finding.packet) == ("tx_deq", 7)
    assert said["words"] == "the packet is not at both taps of the stretch"
    assert said["length_at"] == "B.rx_enq: 23 payload words, its header says 24"
    assert said["tap_after"].startswith("B.rx_enq is the first tap that has it")
    # It has the packet as bad; what it does not have is a count of that.
    assert said["checker"] == "B does not count what fails here, or it was not read"


# -- the recorder as a suspect ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tap", "device"), [("tx_enq", "A"), ("tx_deq", "A"), ("rx_enq", "B"), ("rx_deq", "B")]
)
@pytest.mark.parametrize("place", [0, 1, 9, 42])
def test_a_bit_that_one_tap_alone_holds_otherwise_is_an_upset_of_its_memory(
    explained: Explain, tap: str, device: str, place: int
) -> None:
    pair, hit = quiet()
    upset(hit, tap, place, 17)
    (finding,) = explained(pair).findings
    assert (finding.diagnosis, finding.device, finding.tap) == ("recorder-suspect", device, tap)
    assert "bit 17 of" in finding.text
    assert finding.packet == hit.seq and finding.word == (place - 2 if 2 <= place < 42 else None)


@pytest.mark.parametrize("bits", [0b11, 0b101 << 40])
def test_several_bits_of_a_word_that_no_check_looked_at_may_be_an_upset_too(
    explained: Explain, bits: int
) -> None:
    """The last packet crosses rx_enq as its memory closes: its end, and with it any check, is not recorded."""
    pair, _ = quiet()
    last = [crossing for crossing in pair.crossings if crossing.sender == "A"][-1]
    kind, data = last.rx_enq[9]
    last.rx_enq[9] = (kind, data ^ bits)
    del last.rx_enq[20:], last.rx_deq[:]
    first = explained(pair).findings[0]
    assert (first.diagnosis, first.tap, first.packet) == ("undetermined", "rx_enq", last.seq)
    assert first.candidates == ("payload-bit-flip", "recorder-suspect")


def test_from_the_receiver_alone_a_tap_whose_packet_was_right_behind_it_is_suspect(
    explained: Explain,
) -> None:
    pair, hit = quiet()
    upset(hit, "rx_enq", 9, 3)
    (finding,) = explained(pair, "B").findings
    assert (finding.diagnosis, finding.tap) == ("recorder-suspect", "rx_enq")


def test_a_bit_that_both_taps_of_the_receiver_hold_and_its_checker_counted_is_of_the_link(
    explained: Explain,
) -> None:
    pair, hit = quiet(errors=1)
    pair.causes = PAY
    alter(hit, "rx_enq", 9, 1 << 17)
    (finding,) = explained(pair).findings
    assert finding.diagnosis == "payload-bit-flip"
    said = {witness.name: witness.says for witness in finding.witnesses}
    assert (said["checker"], said["tap_after"], said["cause"]) == ("for", "for", "for")
    assert finding.falsifier.startswith(
        "It would be wrong if the receiver counted no payload error"
    )
    assert not any(witness.text in finding.falsifier for witness in finding.witnesses)


def test_a_bit_that_both_taps_hold_while_the_checker_counted_nothing_is_no_certain_name(
    explained: Explain,
) -> None:
    pair, hit = quiet(errors=0)
    alter(hit, "rx_enq", 9, 1 << 17)
    (finding,) = explained(pair).findings
    assert finding.diagnosis == "undetermined"
    assert finding.candidates == ("payload-bit-flip", "recorder-suspect")
    assert "Against it: B's payload_errors 0." in finding.text
    assert finding.next.startswith("freezeframe arm TARGET && freezeframe pull TARGET -o ")


def test_of_a_full_fifo_nothing_is_laid_to_the_recorder(explained: Explain) -> None:
    pair, hit = quiet()
    pair.counter("B", "rx_fifo_overflows", 5)
    upset(hit, "rx_deq", 9, 17)
    assert all(f.diagnosis != "recorder-suspect" for f in explained(pair).findings)


# -- registers -------------------------------------------------------------------------------------


def balanced() -> Pair:
    """Return a pair whose registers add up: in, out and level of A's outgoing FIFO, and its flows."""
    pair = Pair(causes=QUIET)
    for device in "AB":
        pair.set(device, "ctl.generation", value=1)
        pair.set(device, "ctl.options", value=1)
        for tap in ("tx_enq", "rx_enq"):
            pair.counter(device, f"{tap}_packets", 10)
        pair.set(device, "frozen.next_seq_out", value=10)
        pair.set(device, "frozen.next_seq_in", value=10)
        for flow in range(8):
            pair.set(device, "frozen_flow.words_sent", flow, value=0)
            pair.set(device, "frozen_flow.sent", flow, value=0)
    pair.counter("A", "tx_enq_words", 500)
    pair.counter("A", "tx_deq_words", 440)
    pair.set("A", "frozen.tx_level", value=60)
    pair.set("A", "frozen_flow.words_sent", 1, value=440)
    pair.set("A", "frozen_flow.sent", 1, value=440)
    return pair


def test_registers_that_add_up_have_no_finding(explained: Explain) -> None:
    assert explained(balanced()).findings == []


def test_the_bit_of_the_one_register_that_would_mend_two_laws_is_named(explained: Explain) -> None:
    pair = balanced()
    pair.counter("A", "tx_deq_words", 440 ^ 1 << 10)
    (finding,) = explained(pair).findings
    assert (finding.diagnosis, finding.device) == ("recorder-suspect", "A")
    assert "bit 10 of A's frozen_counters.tx_deq_words (1464)" in finding.text


def test_a_level_one_off_is_a_set_of_the_register_and_of_a_lost_word(explained: Explain) -> None:
    pair = balanced()
    pair.set("A", "frozen.tx_level", value=59)
    first = explained(pair).findings[0]
    assert first.diagnosis == "undetermined"
    assert {"word-omitted", "recorder-suspect"} <= set(first.candidates)


# -- answers where no name stands -------------------------------------------------------------------


def test_words_that_are_in_the_books_and_not_in_the_fifo_are_no_healthy_stall(
    explained: Explain,
) -> None:
    pair = Pair(causes={"A": ["credit-stall"], "B": ["cross"]})
    pair.traffic(10, flow=2)
    pair.set("A", "frozen.stalled_flows", value=1 << 2)
    pair.account(
        "A", 2, sent=1600, credited=576, limit=1024, received=1600, freed=576, reported=576
    )
    pair.set("B", "frozen.rx_level", value=0)
    finding = explained(pair).findings[0]
    assert (finding.diagnosis, finding.device, finding.flow) == ("none-of-the-known", "B", 2)
    assert (
        "1024 words of it wait in its incoming FIFO, and its level register says 0" in finding.text
    )


def test_a_refused_credit_is_told(explained: Explain) -> None:
    pair, _ = quiet()
    pair.set("A", "ctl.generation", value=1)
    pair.counter("A", "credits_refused", 1)
    pair.counter("A", "parity_errors", 0)
    (finding,) = explained(pair).findings
    assert finding.diagnosis == "none-of-the-known"
    assert "A refused 1 credit from B for a bad CRC" in finding.text


def test_no_fault_found_is_not_said_while_a_memory_is_unread(explained: Explain) -> None:
    pair, _ = quiet()
    pair.gaps["B", "rx_deq"] = [(0, 4)]
    found = explained(pair)
    assert found.findings == []
    assert found.answer == "nothing found, and not all could be looked at"
    assert "B.rx_deq: a part of it was not read" in found.not_seen


def test_without_a_finding_it_says_what_was_looked_at(explained: Explain) -> None:
    pair, _ = quiet()
    found = explained(pair)
    assert found.answer == "no fault found"
    assert "A.tx_deq: 21 packets, 21 of 21 pass their checks" in found.looked_at


# -- confidence from frequency -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "of", "printed"),
    [
        (300, 300, "0.99 (300 of 300)"),
        (60, 60, "0.98 (60 of 60)"),
        (59, 59, "0.89 (59 of 59)"),
        (412, 415, "0.89 (412 of 415)"),
        (5, 10, "0.50 (5 of 10)"),
    ],
)
def test_certain_is_what_was_right_every_time_and_often_enough(
    monkeypatch: pytest.MonkeyPatch, right: int, of: int, printed: str
) -> None:
    monkeypatch.setattr(gate, "counts", lambda: {"word-omitted: both words+": Count(right, of)})
    bare = Finding("word-omitted", "x", pattern="both words+", evidence=(Evidence("seen"),))
    assert confidence_text(counted_for(bare)) == printed
    other = Finding("word-omitted", "x", pattern="both words?", evidence=(Evidence("seen"),))
    assert (confidence_text(counted_for(other)), counted_for(other).confidence) == (
        "not counted",
        0,
    )


def test_a_pattern_counts_by_the_weaker_ones_that_were_right_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = {
        "x: both compared words+ crc_at+": Count(5, 5),
        "x: both compared words+ crc_at?": Count(50, 50),
        "x: both compared words? crc_at?": Count(7, 7),
        "x: both compared words? crc_at+": Count(300, 301),  # wrong once: it says nothing of others
        "x: one compared words+ crc_at?": Count(900, 900),
        "y: both compared words+ crc_at?": Count(900, 900),
    }
    monkeypatch.setattr(gate, "counts", lambda: counted)
    found = {pattern: gate.count_of("x", f"both compared {pattern}") for pattern in (
        "words+ crc_at+", "words+ crc_at?", "words? crc_at?", "words? crc_at+", "words- crc_at+"
    )}  # fmt: skip
    assert found == {
        "words+ crc_at+": Count(62, 62),
        "words+ crc_at?": Count(57, 57),
        "words? crc_at?": Count(7, 7),
        "words? crc_at+": Count(300, 301),
        "words- crc_at+": None,
    }


# -- fault files -----------------------------------------------------------------------------------


def test_each_fault_that_ships_has_a_file_of_its_own_and_names_what_would_show_it_wrong() -> None:
    assert shipped().keys() == set(FAULTS) - {"none"} | OF_WHOLE_PACKETS
    for fault in shipped().values():
        assert fault.witnesses and fault.falsifier and fault.doc and fault.needs
        assert set(fault.witnesses) <= WITNESSES.keys()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"', "names no witness"),
        ('[for]\nwords = "omitted"', "has no name"),
        ('name = "x"\n[for]\nsmell = "bad"', "'smell' is no witness"),
        ('name = "x"\n[for]\nwords = "lost"', "words = 'lost': it has the values equal, omitted"),
        ('name = "x"\n[for]\nwords = "equal"\n[against]\nwords = "equal"', "contradicts itself"),
        ('name = "x"\nsize = 1\n[for]\nwords = "equal"', "'size' is no key of a fault file"),
        ('name = "x"\n[for]\nwords = 3', "words = 3"),
        ("name =", "is no TOML"),
    ],
)
def test_a_fault_file_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        read_fault(path)
    assert said in str(refused.value) and str(refused.value).startswith(str(path))
    assert len(refused.value.lines) == 1


# -- faults of one's own -----------------------------------------------------------------------------


def flipped(tmp_path: Path, name: str, seed: int, errors: int = 1) -> CaptureFolder:
    """Return a capture with a flipped bit on the link in another packet and word by the seed."""
    pair, hit = busy(seed=seed, causes=PAY)
    for counter, value in (("header_errors", 0), ("length_errors", 0), ("payload_errors", errors)):
        pair.counter("B", counter, value)
    pair.set("B", "ctl.generation", value=1)
    alter(hit, "rx_enq", 4 + seed, 1 << seed)
    return pair.write(tmp_path / name)


def test_what_a_bad_capture_alone_has_is_learned_and_found_again(tmp_path: Path) -> None:
    good = quiet()[0].write(tmp_path / "good.ff")
    text = learned(good, flipped(tmp_path, "bad.ff", 3), "our-flip", "payload-bit-flip")
    assert '[claim]\nwhat = "altered"\nunit = "word"\nat = "tx_deq->rx_enq"\n' in text
    assert 'checker = "counted"' in text and "0x" not in text
    (tmp_path / "faults").mkdir()
    (tmp_path / "faults" / "our-flip.toml").write_text(text)
    faults = own_faults(tmp_path / "faults")
    later = explain(flipped(tmp_path, "later.ff", 9), own=faults).findings
    assert [finding.diagnosis for finding in later] == ["payload-bit-flip", "our-flip"]
    assert explain(good, own=faults).findings == []
    other = explain(flipped(tmp_path, "other.ff", 5, errors=0), own=faults).findings
    assert "our-flip" not in [finding.diagnosis for finding in other]


@pytest.mark.parametrize(
    ("unit", "at"),
    [("word", "nowhere->rx_enq"), ("packet", "rx"), ("law", "no law"), ("card", "pay")],
)
def test_an_own_fault_at_a_place_that_the_card_has_not_is_refused(
    tmp_path: Path, unit: str, at: str
) -> None:
    (tmp_path / "x.toml").write_text(
        f'name = "x"\n[claim]\nwhat="bad"\nunit="{unit}"\nat="{at}"\n[for]\nwords="equal"'
    )
    with pytest.raises(InputError, match=f"fault x: claim.at = '{at}'; the card has "):
        explain(quiet()[0].write(tmp_path / "good.ff"), own=own_faults(tmp_path))


def test_two_own_faults_of_one_name_are_refused(tmp_path: Path) -> None:
    for file in ("a.toml", "b.toml"):
        (tmp_path / file).write_text(
            'name = "x"\n[claim]\nwhat="bad"\nunit="packet"\nat="rx_enq"\n[for]\nwords="equal"'
        )
    with pytest.raises(InputError, match=r"b\.toml: x is the name of a\.toml already"):
        own_faults(tmp_path)


def test_two_captures_that_have_the_same_teach_nothing(tmp_path: Path) -> None:
    one, two = flipped(tmp_path, "one.ff", 3), flipped(tmp_path, "two.ff", 4)
    with pytest.raises(InputError, match="nothing stands in it that does not stand in"):
        learned(one, two, "x", "nothing")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"\n[for]\nwords = "equal"', "[claim] has no what"),
        ('name = "x"\n[claim]\nwhat="gone"\nunit="word"\nat="y"\n[for]\nwords="equal"', "claim.what = 'gone'"),
        (
            'name = "x"\nneeds = ["wings"]\n[claim]\nwhat="bad"\nunit="packet"\nat="y"\n[for]\nwords="equal"',
            "needs 'wings'",
        ),
        (
            'name = "word-omitted"\n[claim]\nwhat="bad"\nunit="packet"\nat="y"\n[for]\nwords="equal"',
            "is a name that ships",
        ),
        (
            'name = "Foo ../x"\n[claim]\nwhat="bad"\nunit="packet"\nat="y"\n[for]\nwords="equal"',
            "name = 'Foo ../x': small letters",
        ),
    ],
)  # fmt: skip
def test_an_own_fault_that_cannot_be_asked_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(InputError) as refused:
        own_faults(tmp_path)
    assert said in str(refused.value)


def test_the_tables_of_the_documentation_are_those_of_the_fault_files() -> None:
    for path, text in pages(Path(__file__).parents[3] / "docs").items():
        stale = "stale: python -m freezeframe.analyzers.witness.page writes it anew"
        assert path.read_text("utf-8") == text, f"{path.name} is {stale}"
