"""The credit audit: books, fates of credits, their flight, slips and what they lead to, copies in payloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.credits.copies import SENT_FLAG, TAKEN_FLAG, copy_word, witness
from freezeframe.analyzers.credits.slip import Slip, outlook, poisson_limits
from freezeframe.analyzers.declarations import CREDITS
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import Pair
from tests.analyzers.emulated import pulled, varied_profile
from tests.emulator.reading import Card, freeze


def audited(pair: Pair, path: Path, captured: str = "AB") -> AnalysisResult:
    folder = pair.write(path / f"{len(list(path.iterdir()))}.ff", captured)
    result: AnalysisResult = CREDITS.run(CaptureView(CaptureFolder.open(folder.path)))
    return result


def healthy() -> Pair:
    """A and B with ten packets, a credit of 64 words every 4 us, all taken half a microsecond later."""
    pair = Pair()
    pair.traffic(10)
    for i in range(1, 20):
        pair.credit(50_000_000 + 4_000_000 * i, 64 * i)
    pair.event("B", 140_000_000, "LINK", "idle_inserted")
    pair.event("A", 140_000_000, "LINK", "idle_inserted")
    pair.account(
        "A", 0, sent=1300, credited=1216, limit=1024, received=1290, freed=1250, reported=1216
    )
    return pair


def values(result: AnalysisResult, prefix: str, *names: str) -> list[object]:
    return [result.figure(f"{prefix}.{name}").value for name in names]


def test_the_books_of_a_flow_come_from_both_freeze_banks(tmp_path: Path) -> None:
    result = audited(healthy(), tmp_path)
    assert values(result, "A->B.flow0", "outstanding", "free", "waiting", "withheld", "on_the_way") == [
        84, 940, 40, 34, 10,
    ]  # fmt: skip
    assert result.findings == ()


def test_credits_of_a_healthy_link_are_all_taken_and_their_way_is_measured(tmp_path: Path) -> None:
    result = audited(healthy(), tmp_path)
    fates = ("credits.sent", "credits.taken", "credits.lost", "credits.refused", "credits.repeated")
    assert values(result, "A->B.flow0", *fates) == [19, 19, 0, 0, 0]
    flight = result.figure("A->B.flow0.credit_flight.median")
    assert flight.value is not None
    assert flight.uncertainty is not None
    assert abs(flight.value - 500_000) <= flight.uncertainty
    assert result.tables["credits"]["fate"].tolist() == ["taken"] * 19


def test_a_credit_that_never_arrives_is_lost_and_the_time_until_the_next_is_on_its_track(
    tmp_path: Path,
) -> None:
    pair = healthy()
    pair.credit(130_000_000, 64 * 20, arrives=False)
    pair.credit(134_000_000, 64 * 21)
    result = audited(pair, tmp_path)
    assert values(result, "A->B.flow0", "credits.lost", "credits.refused") == [1, 0]
    (track,) = result.intervals
    assert track.kind == ("credit-lost",)
    assert 3_900_000 <= int(track.t_end_ps[0] - track.t_ps[0]) <= 5_000_000


def test_a_credit_with_a_flipped_bit_is_refused_and_that_is_why_it_was_lost(tmp_path: Path) -> None:
    pair = healthy()
    pair.credit(130_000_000, 64 * 20, flip=1 << 20)
    pair.credit(134_000_000, 64 * 21)
    result = audited(pair, tmp_path)
    assert values(result, "A->B.flow0", "credits.lost", "credits.refused") == [1, 1]
    assert "refused for their parity or CRC" in " ".join(result.notes)


def test_two_flipped_bits_pass_the_parity_and_the_credit_was_never_sent_so(tmp_path: Path) -> None:
    pair = healthy()
    pair.credit(130_000_000, 64 * 20, flip=3 << 20)
    pair.credit(134_000_000, 64 * 21)
    result = audited(pair, tmp_path)
    assert values(result, "A->B.flow0", "credits.lost", "credits.altered") == [1, 1]


def test_a_credit_taken_twice_told_nothing_new(tmp_path: Path) -> None:
    pair = healthy()
    last = pair.events["A"][-2]
    pair.events["A"].append(type(last)(last.t_ps + 100_000, "CREDIT", last.data))
    result = audited(pair, tmp_path)
    assert values(result, "A->B.flow0", "credits.lost", "credits.repeated") == [0, 1]


def test_a_credit_sent_just_before_the_sender_s_log_ends_is_not_called_lost(tmp_path: Path) -> None:
    pair = healthy()
    pair.credit(139_900_000, 64 * 20, arrives=False)
    assert audited(pair, tmp_path).figure("A->B.flow0.credits.lost").value == 0


@pytest.mark.parametrize("first", range(1, 19, 3))
@pytest.mark.parametrize("device", ["A", "B"])
def test_a_log_that_reaches_back_less_makes_no_credit_lost_or_altered(
    tmp_path: Path, device: str, first: int
) -> None:
    pair = healthy()
    pair.keep[device, "event_log"] = slice(first, None)
    result = audited(pair, tmp_path)
    for name in ("credits.lost", "credits.altered"):
        assert result.figure(f"A->B.flow0.{name}").value in (0, None)


@pytest.mark.parametrize("gap", [(0, 20), (10, 5), (40, 30)])
@pytest.mark.parametrize("device", ["A", "B"])
def test_records_of_a_log_that_were_not_read_make_no_credit_lost_or_altered(
    tmp_path: Path, device: str, gap: tuple[int, int]
) -> None:
    pair = healthy()
    pair.gaps[device, "event_log"] = [gap]
    result = audited(pair, tmp_path)
    for name in ("credits.lost", "credits.altered"):
        assert result.figure(f"A->B.flow0.{name}").value in (0, None)
    assert any(
        note.startswith(f"{device}: its event log is missing, has gaps") for note in result.notes
    )


@pytest.mark.parametrize("alone", ["A", "B"])
def test_one_end_alone_says_what_it_lacks(tmp_path: Path, alone: str) -> None:
    result = audited(healthy(), tmp_path, alone)
    lost = result.figure("A->B.flow0.credits.lost")
    assert lost.value is None
    assert lost.note == "needs credits in the event logs of both ends"
    missing = "received" if alone == "A" else "sent"
    assert result.figure(f"A->B.flow0.{missing}").note.startswith("not in the capture")
    assert result.findings == ()


def slipping(words: int, generation: int = 1) -> Pair:
    """A counted ``words`` fewer for credit than left its tap."""
    pair = healthy()
    for flow in range(8):
        for device in "AB":
            pair.set(device, "frozen_flow.words_sent", flow, value=0)
            pair.set(device, "frozen_flow.words_received", flow, value=0)
    pair.set("A", "frozen_flow.words_sent", 0, value=100_000 - words)
    pair.set("B", "frozen_flow.words_received", 0, value=100_000)
    for device, tap, count in (
        ("A", "tx_deq", 100_000),
        ("A", "rx_enq", 0),
        ("B", "tx_deq", 0),
        ("B", "rx_enq", 100_000),
    ):
        pair.counter(device, f"{tap}_words", count)
        pair.counter(device, f"{tap}_packets", count // 100)
    pair.set("A", "ctl.generation", value=generation)
    return pair


def test_counts_that_agree_with_their_taps_have_no_slip_and_a_bound_on_its_rate(
    tmp_path: Path,
) -> None:
    result = audited(slipping(0), tmp_path)
    assert result.figure("A.sent.slip").value == 0
    rate = result.figure("A.sent.slip.rate")
    assert rate.value == 0
    assert "95 % limits 0 to 0.00369" in rate.note  # 3.689 of 1000 packets: Garwood, count 0
    assert result.findings == ()


def test_words_not_counted_are_a_slip_and_its_rate_has_limits(tmp_path: Path) -> None:
    result = audited(slipping(20), tmp_path)
    assert result.figure("A.sent.slip").value == 20
    rate = result.figure("A.sent.slip.rate")
    assert rate.value == pytest.approx(0.02)
    assert "95 % limits 0.0122 to 0.0309" in rate.note  # Garwood: 12.22 to 30.89
    assert result.findings == ()  # explain has it


def test_after_a_second_arm_a_slip_over_the_run_is_not_read(tmp_path: Path) -> None:
    result = audited(slipping(20, generation=2), tmp_path)
    assert "A.sent.slip" not in [figure.name for figure in result.figures]
    assert result.findings == ()
    assert any("armed 2 times since power-up" in note for note in result.notes)


def test_after_the_link_came_up_again_a_slip_is_not_read(tmp_path: Path) -> None:
    """A change of the loop-back brings the link up anew: flows count from zero again, taps do not."""
    target = EmulatorTarget("forth", "none", 4)
    target.advance(100_000_000)
    Card(target, 0).write("provoke.link", 1)
    target.advance(200_000_000)
    pull(target, tmp_path / "looped.ff", freeze=True)
    result = CREDITS.run(CaptureView(CaptureFolder.open(tmp_path / "looped.ff")))
    assert not [f for f in result.figures if f.name.endswith(".slip")]
    assert any("the link came up again since" in note for note in result.notes)


def slip(slipped: int, ran_s: float = 2.0) -> Slip:
    low, high = poisson_limits(abs(slipped))
    return Slip("A", "sent", 1000 + slipped, 1000, 100, slipped, low, high, ran_s)


def test_a_sender_that_counts_too_few_words_overflows_the_receiver_when_the_room_is_used_up() -> (
    None
):
    ahead = outlook(slip(-10), 38)
    assert ahead is not None
    assert (ahead.what, ahead.words_left) == ("overflow", 38)
    assert ahead.seconds == pytest.approx(38 / 5)
    assert ahead.low_s < ahead.seconds < ahead.high_s


def test_a_sender_that_counts_too_many_stalls_and_what_is_used_up_is_used_up() -> None:
    ahead = outlook(slip(10), -3)
    assert ahead is not None
    assert (ahead.what, ahead.words_left, ahead.seconds) == ("stall", 0, 0)


def test_without_a_slip_nothing_lies_ahead() -> None:
    assert outlook(slip(0), 100) is None


@pytest.mark.parametrize(("fullest_bin", "left"), [(3, 2048 - 512), (15, 0)])
def test_an_overflow_is_foretold_from_the_fullest_fifo_seen(
    tmp_path: Path, fullest_bin: int, left: int
) -> None:
    pair = slipping(20)
    for i in range(16):
        pair.set("B", "occupancy_histogram", i, value=5 if i in (0, fullest_bin) else 0)
    ahead = audited(pair, tmp_path).figure("A.sent.slip.overflow")
    assert f": {left} words left at this rate" in ahead.note
    ran_ps = 10_000 * pair_cycles(pair, tmp_path)
    assert ahead.value == pytest.approx(left * ran_ps / 20, rel=1e-6)


def pair_cycles(pair: Pair, path: Path) -> int:
    """Return the bus cycle at which the pair's capture froze."""
    folder = pair.write(path / "again.ff")
    cycle = folder.device("A").registers.value("frozen.freeze_cycle_lo")
    assert cycle is not None
    return cycle


@pytest.mark.parametrize(("seed", "asked_us"), [(6, 50), (6, 400), (3, 400)])
def test_a_stall_is_foretold_before_it_happens_to_a_factor_of_two(
    tmp_path: Path, seed: int, asked_us: int
) -> None:
    """B miscounts headers; frozen by hand long before, the pair says when no packet fits any more at that rate."""
    stalled = EmulatorTarget("forth", "header-miscounted", seed, access_ps=0)
    stalled.run_until_frozen(1_300_000_000)
    link = stalled.pair.nics[0].tx_link
    assert link._blocked is not None
    early = EmulatorTarget("forth", "header-miscounted", seed, access_ps=0)
    early.advance(asked_us * 1_000_000)
    freeze(Card(early, 0))
    assert early.run_until_frozen(4_000_000_000)
    true_ps = link.link.edge_ps(link._blocked) - early.now_ps
    early.advance(3_000_000_000)  # the device sums its memories
    pull(early, tmp_path / "early.ff")
    result = CREDITS.run(CaptureView(CaptureFolder.open(tmp_path / "early.ff")))
    left_ps = result.figure("B.received.slip.stall").value
    assert left_ps is not None
    assert true_ps > 100_000_000
    assert true_ps / 2 <= left_ps <= 2 * true_ps


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(0, 0.0, 3.6889), (1, 0.02532, 5.5716), (10, 4.7954, 18.3904), (100, 81.364, 121.627)],
)
def test_limits_of_a_poisson_count_are_garwood_s(count: int, low: float, high: float) -> None:
    assert poisson_limits(count) == pytest.approx((low, high), rel=1e-3)


def test_limits_of_a_large_count_join_on_to_those_of_a_small_one() -> None:
    near, beyond = poisson_limits(1_000), poisson_limits(1_001)
    assert beyond[0] - near[0] == pytest.approx(1, abs=0.5)
    assert beyond[1] - near[1] == pytest.approx(1, abs=0.5)


# Credits copied into payloads: docs/analyzers.md.


def copying(missing: int | None = None, flip: int = 0) -> Pair:
    """B copies every credit it sends into its next packet, but the one of number ``missing``."""
    pair = healthy()
    for i in range(1, 20):
        body = [] if i == missing else [copy_word(0, 64 * i, SENT_FLAG) ^ flip]
        pair.send("B", payload=[*body, *pair.payload(5)])
    return pair


def test_copies_agree_with_the_event_log(tmp_path: Path) -> None:
    result = audited(copying(), tmp_path)
    copies = result.figure("A->B.flow0.copies.sent")
    assert copies.value == 19
    assert "19 agree with the event log" in copies.note


def test_a_credit_that_was_not_copied_is_told(tmp_path: Path) -> None:
    result = audited(copying(missing=7), tmp_path)
    assert any(
        "1 are in the event log and in no payload, first the one of 448" in n for n in result.notes
    )


@pytest.mark.parametrize("bit", [0, 9, 15, 20, 44, 50])
def test_a_damaged_copy_is_none(tmp_path: Path, bit: int) -> None:
    names = [figure.name for figure in audited(copying(flip=1 << bit), tmp_path).figures]
    assert "A->B.flow0.copies.sent" not in names


def test_a_copy_is_the_credit_word_with_a_mark_in_its_reserved_bits() -> None:
    word = copy_word(3, 100, TAKEN_FLAG)
    assert (
        word & 0xF,
        word >> 4 & 0xF,
        word >> 8 & 0x7F,
        word >> 16 & 0xFF_FFFF,
        word >> 40 & 0xFF,
    ) == (4, 2, 3, 100, 0x43)
    assert (word & (1 << 48) - 1).bit_count() % 2 == 1
    with pytest.raises(ValueError, match="does not fit a copied credit"):
        copy_word(128, 0, SENT_FLAG)


def test_what_only_one_of_two_witnesses_covers_says_nothing() -> None:
    seen = witness([64, 128, 256], [0, 64, 128, 192, 256, 320])
    assert (seen.both, seen.only_copied, seen.only_logged) == (3, (), (192,))
    assert witness([1], [2]) == witness([], [])


# On captures of the emulated pair.


def test_a_clean_run_has_no_credit_lost_no_slip_and_no_finding(tmp_path: Path) -> None:
    for seed in (4, 6):
        result = CREDITS.run(pulled(tmp_path, seed))
        for figure in result.figures:
            if figure.name.endswith(
                (".lost", ".refused", ".altered", ".backward", ".slip", ".beyond_limit")
            ):
                assert figure.value in (0, None), figure
        assert result.findings == ()


def test_credits_in_larger_lumps_than_the_card_states_are_seen(tmp_path: Path) -> None:
    result = CREDITS.run(pulled(tmp_path, 1, fault="credit-too-coarse"))
    unit = result.figure("A->B.flow0.credit_unit")
    assert unit.value is not None
    assert unit.value > 64
    assert unit.note == "the card states 64; every credit in the log told more"


def test_a_wrap_that_is_not_handled_shows_as_starts_beyond_the_limit_only_across_it(
    tmp_path: Path,
) -> None:
    result = CREDITS.run(pulled(tmp_path, 1001, fault="wrap-unhandled"))
    beyond = [f for f in result.figures if f.name.endswith(".beyond_limit") and f.value]
    assert len(beyond) == 1
    assert f"{beyond[0].value} of them across a wrap" in beyond[0].note


def test_a_card_that_copies_its_credits_is_its_own_second_witness(tmp_path: Path) -> None:
    profile = varied_profile(tmp_path / "copying.toml", copy_credits=1)
    result = CREDITS.run(pulled(tmp_path, 4, profile=profile))
    copies = [f for f in result.figures if ".copies." in f.name and f.value]
    assert len(copies) >= 4
    for figure in copies:
        agreed = int(figure.note.split("; ")[1].split(" ")[0])
        assert agreed >= 1
        assert not [
            n
            for n in result.notes
            if n.startswith(figure.label) and "and not in the event log" in n
        ]
