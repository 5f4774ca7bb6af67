"""The numbers of a capture add up at any moment of freezing, and a broken law names the terms that do not."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.conservation.analysis_code import Checked, check_laws, run
from freezeframe.analyzers.declarations import CONSERVATION
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.counters.law_table import CardLaw, laws_of, split_terms
from freezeframe.capture.folder import CaptureFolder, DeviceCapture, RegisterImage
from freezeframe.capture.recorder.control import arm
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.targets.base import open_target
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.emulated import pulled, varied_profile
from tests.board.boards import running
from tests.campaign.open_world.runs import UNLISTED, Job, take
from tests.capture.console.printed import dump, line, record

CARD_LAWS = laws_of(card_of_map().card)
_FORTH = Path(__file__).parents[3] / "emulator" / "profiles" / "forth.toml"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    """A clean run with deep memories: none has wrapped, so every law can be checked."""
    path = tmp_path_factory.mktemp("clean")
    deep = varied_profile(path / "deep.toml", tap_depth=16384, event_depth=16384)
    view = pulled(path, 3004, profile=deep, limit_us=30)
    assert view.streams
    assert view.logs  # read from the registers as they were, also in a copy with one changed
    return view


def broken(checked: list[Checked]) -> list[str]:
    return [f"{c.subject.text}: {c.law.name}: {c.why}" for c in checked if c.state == "broken"]


def laws_broken(checked: list[Checked]) -> set[str]:
    return {c.law.name for c in checked if c.state == "broken"}


def of_devices(view: CaptureView, *devices: DeviceCapture) -> CaptureView:
    """Return the view with other registers in its devices."""
    return view.with_frozen(list(devices))


def altered(view: CaptureView, device: str, register: str, *indices: int, by: int) -> CaptureView:
    """Return the view with a register of one device changed; as evidence it would have another digest."""
    address = names.offset(register, *indices)

    def change(image: RegisterImage) -> RegisterImage:
        words = dict(image)
        words[address] = (words[address] + by) % (1 << 32)
        return RegisterImage(words)

    return of_devices(
        view,
        *(
            replace(d, registers=change(d.registers)) if d.name == device else d
            for d in view.devices
        ),
    )


def test_everything_adds_up_in_a_clean_run_and_everything_can_be_checked(
    clean: CaptureView,
) -> None:
    checked = check_laws(clean)
    assert {c.state for c in checked} == {"holds"}
    assert {c.law.name for c in checked} == {law.name for law in CARD_LAWS}


@pytest.mark.parametrize("seed", range(5100, 5105))
def test_clean_runs_hold_every_law_at_any_moment(tmp_path: Path, seed: int) -> None:
    at_us = random.Random(seed).randrange(2, 400)
    assert broken(check_laws(pulled(tmp_path, seed, limit_us=at_us))) == []


@pytest.mark.parametrize("seed", [21, 22])
def test_clean_runs_of_the_simulated_board_hold_every_law(tmp_path: Path, seed: int) -> None:
    with running("--fault", "none", "--seed", str(seed), "--truth", str(tmp_path / "t")) as board:
        target = open_target(board.url)
        pull(target, tmp_path / "run.ff", freeze=True)
        target.close()
    folder = CaptureFolder.open(tmp_path / "run.ff")
    assert broken(check_laws(CaptureView(folder))) == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("word-omitted", {"outgoing FIFO, words"}),
        ("credit-lost", {"credits on the way"}),
        ("wrap-unhandled", {"credit"}),
        ("credit-start-too-large", {"limit"}),
        ("credit-too-optimistic", {"credit"}),
        ("header-miscounted", {"words sent, by flow", "words received, by flow"}),
    ],
)
def test_a_fault_breaks_the_law_it_is_about(tmp_path: Path, fault: str, expected: set[str]) -> None:
    view = pulled(tmp_path, 1002, fault=fault, limit_us=20_000)
    assert expected & laws_broken(check_laws(view))


BREAKS = {
    "outgoing FIFO, words": ("frozen.tx_level", (), -1),
    "incoming FIFO, words": ("frozen.rx_level", (), 1),
    "outgoing FIFO, packets": ("frozen_counters.tx_deq_packets.lo", (), 99),
    "incoming FIFO, packets": ("frozen_counters.rx_deq_packets.lo", (), 99),
    "words sent, by flow": ("frozen_flow.words_sent", (0,), -1),
    "words received, by flow": ("frozen_flow.words_received", (0,), -1),
    "words waiting, by flow": ("frozen.rx_level", (), -9),
    "packets received": ("frozen_counters.drops.lo", (), 2),
    "descriptors": ("frozen_counters.descriptors.lo", (), 2),
    "bus cycles": ("frozen_counters.bus_data_cycles.lo", (), 1_000_000),
    "refused credits": ("frozen_counters.parity_errors.lo", (), 1),
    "sampler, words out": ("frozen_counters.tx_deq_words.lo", (), 2_000),
    "sampler, words in": ("frozen_counters.rx_enq_words.lo", (), -5_000),
    "samples": ("occupancy_histogram", (0,), 1),
    "words sent, two counts": ("frozen_flow.sent", (0,), 1),
    "words received, two counts": ("frozen_flow.received", (1,), 1),
    "credit": ("frozen_flow.credited", (0,), 3_000),
    "words waiting": ("frozen_flow.freed", (0,), 2_500),
    "credits due": ("frozen_flow.freed", (1,), -2_500),
    "limit": ("frozen_flow.limit", (0,), 2_049),
    "words on the way, by flow": ("frozen_flow.sent", (2,), 4_000),
    "credits on the way, by flow": ("frozen_flow.credited", (3,), 2_000),
    "words on the way": ("frozen_counters.tx_deq_words.lo", (), -5_000),
    "credits on the way": ("frozen_counters.credits_taken.lo", (), 500),
    "recorded words": ("memory.offered", (1,), 1),
    "stored records": ("memory.stored", (2,), -1),
    "counted words": ("memory.offered", (0,), 50_000),
    "counted header errors": ("frozen_counters.header_errors.lo", (), -1),
    "stored events": ("memory.stored", (4,), 1),
    "recorded events": ("memory.lost", (4,), 1),
}  # fmt: skip


def test_there_is_a_way_to_break_every_law_but_the_ones_of_errors_and_sequence() -> None:
    assert BREAKS.keys() | {"packets in sequence"} == {law.name for law in CARD_LAWS}


@pytest.mark.parametrize(
    ("fault", "where"),
    [("link-packet-lost", "B.rx_enq"), ("out-packet-lost", "A.tx_deq"), ("out-packet-late", "A.tx_deq")],
)  # fmt: skip
def test_a_packet_that_is_lost_or_late_breaks_the_law_of_sequence_where_it_went_wrong(
    tmp_path: Path, fault: str, where: str
) -> None:
    folder = take(Job(UNLISTED, fault, "saturating", 7), tmp_path).folder
    broken_at = [
        c.subject.text
        for c in check_laws(CaptureView(folder))
        if c.law.name == "packets in sequence" and c.state == "broken"
    ]
    assert broken_at[0] == where


def test_a_broken_law_is_a_finding_of_the_analysis(clean: CaptureView) -> None:
    found = run(altered(clean, "A", "frozen.tx_level", by=-1)).findings
    assert [f.device for f in found] == ["A"]
    assert "outgoing FIFO, words" in found[0].text
    assert run(clean).findings == ()


@pytest.mark.parametrize("law", [name for name in BREAKS if name != "counted header errors"])
def test_one_wrong_number_breaks_the_law(clean: CaptureView, law: str) -> None:
    register, indices, by = BREAKS[law]
    only = [one for one in CARD_LAWS if one.name == law]
    assert law in laws_broken(check_laws(altered(clean, "A", register, *indices, by=by), only))


def test_a_broken_law_names_its_terms_with_their_values_and_what_they_must_be(
    clean: CaptureView,
) -> None:
    law = CardLaw(
        "FIFO",
        "",
        "device",
        "counter.tx_enq_words - counter.tx_deq_words",
        "0",
        "parameter.tx_fifo",
    )
    words = clean.counter("A", "tx_deq_words")
    wrong = altered(clean, "A", "frozen_counters.tx_enq_words.lo", by=5_000)
    one = next(c for c in check_laws(wrong, [law]) if c.subject.device == "A")
    into = wrong.counter("A", "tx_enq_words")
    assert into is not None
    assert words is not None
    assert one.why == (
        f"counter.tx_enq_words {into:,} - counter.tx_deq_words {words:,} = {into - words:,}; "
        "must lie in 0 to 1,024 (parameter.tx_fifo 1,024)"
    )
    assert [(t.name, t.sign, t.value) for t in one.terms] == [
        ("counter.tx_enq_words", 1, into),
        ("counter.tx_deq_words", -1, words),
        ("parameter.tx_fifo", 0, 1_024),
    ]


def test_a_law_with_a_missing_term_is_not_checkable_and_says_which(clean: CaptureView) -> None:
    def without(image: RegisterImage) -> RegisterImage:
        gone = names.offset("frozen.tx_level")
        return RegisterImage({at: word for at, word in image if at != gone})

    view = of_devices(clean, *(replace(d, registers=without(d.registers)) for d in clean.devices))
    one = check_laws(view, CARD_LAWS[:1])[0]
    assert (one.law.name, one.state, one.why) == (
        "outgoing FIFO, words",
        "not checkable",
        "frozen.tx_level was not read",
    )
    assert one.balance is None


def test_of_one_card_alone_the_laws_of_the_link_are_not_checkable(tmp_path: Path) -> None:
    folder = pulled(tmp_path, 3000, limit_us=30).folder
    checked = check_laws(CaptureView(folder, ["A"]))
    assert broken(checked) == []
    link = [c for c in checked if c.law.scope in ("link", "link-flow")]
    assert {(c.state, c.why.partition(";")[0]) for c in link} == {
        ("not checkable", "device B is not in this capture")
    }


def test_counts_that_run_on_over_an_arm_are_not_held_against_memories(clean: CaptureView) -> None:
    armed = altered(clean, "A", "ctl.generation", by=1)
    states = {
        (c.state, c.why)
        for c in check_laws(armed, [law for law in CARD_LAWS if law.name == "counted words"])
        if c.subject.device == "A"
    }
    assert states == {
        ("not checkable", "armed 2 times; counters run on over that, and all else begins anew")
    }


def test_a_card_that_was_armed_again_or_heard_itself_is_not_accused(tmp_path: Path) -> None:
    """docs/formats.md 1.1: a held pair is brought up anew, while counters run on since power-up."""
    target = EmulatorTarget("forth", "none", 3005)
    target.run_until_frozen(50_000_000)
    pull(target, tmp_path / "first.ff", freeze=True)
    for device in open_devices(target):
        arm(device)
    target.run_until_frozen(100_000_000)
    pull(target, tmp_path / "second.ff", freeze=True)
    looped = EmulatorTarget("forth", "none", 3005)
    looped.run_until_frozen(50_000_000)
    for device in open_devices(looped):
        device.write("provoke.link", 1)
    looped.run_until_frozen(150_000_000)
    pull(looped, tmp_path / "looped.ff", freeze=True)
    toggled = EmulatorTarget("forth", "none", 3005, load="saturating")
    for _ in range(3):
        for on in (1, 0):
            toggled.advance(60_000_000)
            for device in open_devices(toggled):
                device.write("provoke.link", on)
    toggled.run_until_frozen(50_000_000)
    pull(toggled, tmp_path / "toggled.ff", freeze=True)
    for name in ("second", "looped", "toggled"):
        folder = CaptureFolder.open(tmp_path / f"{name}.ff")
        checked = check_laws(CaptureView(folder))
        assert broken(checked) == []
        assert sum(c.state == "holds" for c in checked) > 50


def test_one_memory_for_one_tap_is_checked_like_four(tmp_path: Path) -> None:
    profile = tmp_path / "select.toml"
    profile.write_text(re.sub(r"(?m)^mode = \S+", 'mode = "select"', _FORTH.read_text()))
    assert broken(check_laws(pulled(tmp_path, 3004, profile=str(profile), limit_us=50))) == []


def test_counts_that_wrapped_are_compared_modulo_their_width(clean: CaptureView) -> None:
    low = -(clean.counter("A", "tx_deq_words") or 0) - 7
    law = [law for law in CARD_LAWS if law.name == "words sent, by flow"]
    # Counter and flows both wrap at 2^32: what is added to one of each cancels.
    view = altered(clean, "A", "frozen_counters.tx_deq_words.lo", by=low)
    view = altered(view, "A", "frozen_flow.words_sent", 0, by=low)
    assert broken(check_laws(view, law)) == []


def test_a_capture_of_the_c_hooks_is_checked_as_far_as_its_terms_go(tmp_path: Path) -> None:
    from tests.gui.cli import run_inside

    log = tmp_path / "console.txt"
    records = [record(1, 5, 15), record(2, 6, 3), record(1, 13, 1), record(9, 15, 1)]
    begin, *rest = dump(records)
    counts = {"stored": 4, "offered": 2, "lost": 0}  # as ff_console.c prints them
    told = [line(f"reg {names.offset(f'memory.{name}', 4):x} {n:x}") for name, n in counts.items()]
    log.write_bytes(b"".join([begin, *told, *rest]))
    assert run_inside("console", str(log), "-o", str(tmp_path / "ring.ff")).code == 0
    checked = check_laws(CaptureView(CaptureFolder.open(tmp_path / "ring.ff")))
    assert {c.law.name for c in checked if c.state == "holds"} == {
        "stored events",
        "recorded events",
    }
    assert broken(checked) == []
    assert ("not checkable", "frozen_counters.tx_enq_words was not read") in {
        (c.state, c.why.partition(";")[0]) for c in checked
    }


def test_the_analysis_counts_the_laws_and_tells_the_broken_ones(tmp_path: Path) -> None:
    view = pulled(tmp_path, 1002, fault="word-omitted", limit_us=20_000)
    result = CONSERVATION.run(view)
    assert result.figure("laws.broken").value == (result.tables["laws"]["state"] == "broken").sum()
    assert "outgoing FIFO, words" in result.notes[0]
    assert "counter.tx_enq_words" in result.notes[0]
    result.to_json()


@pytest.mark.parametrize("law", CARD_LAWS, ids=lambda law: law.name)
def test_the_table_is_well_formed(law: CardLaw) -> None:
    assert split_terms(law.balance)
    assert law.text.endswith(".")
    assert law.least or law.most


@pytest.mark.parametrize("text", ["", "a.b c.d", "a.b - ", "a.b * c.d", "a"])
def test_a_balance_that_is_no_sum_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="terms with"):
        split_terms(text)


@pytest.mark.parametrize("law", CARD_LAWS, ids=lambda law: law.name)
def test_the_page_on_check_has_every_law_with_its_balance(law: CardLaw) -> None:
    page = (Path(__file__).parents[3] / "docs" / "analyzers-check.md").read_text()
    assert f"| {law.name} | {law.scope} | {law.text} | `{law.balance}`" in page
