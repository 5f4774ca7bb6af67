"""Handles of memory regions: what is refused, that it is counted and told, and that nothing else changes for it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.registers.layouts import Cause, Kind, NoteCode
from freezeframe.capture.registers.map_forms import Form, map_hash_for, registers_for
from freezeframe.emulator.profile import load_profile
from freezeframe.emulator.regions import Refusal, Regions
from freezeframe.emulator.target import EmulatorTarget
from tests.campaign.runs import Job, Run, run_one
from tests.emulator.reading import Card, freeze, packets_of

PROFILE, FAULT = "forth-regions", "write-outside-region"
MAP = Path(__file__).parents[2] / "firmware-hooks" / "registers" / "generated" / "map.txt"
US = 1_000_000


@pytest.fixture(scope="module")
def run() -> Run:
    return run_one(Job("emulator", FAULT, "light", 6, ends=False, profile=PROFILE))


def _frozen(fault: str, seed: int) -> tuple[EmulatorTarget, Card, Card]:
    target = EmulatorTarget(PROFILE, fault, seed, nonce=1, access_ps=0, load="light")
    target.run_until_evident(2_000 * US)
    for number in (0, 1):
        freeze(Card(target, number))
    assert target.run_until_frozen(3_000 * US)
    target.advance(2_000 * US)
    return target, Card(target, 0), Card(target, 1)


@pytest.mark.parametrize(
    ("dest", "words", "refusal"),
    [
        (0x00000000, 512, None),
        (0x07000000, 8192, None),  # a whole region
        (0x0700FFF8, 1, None),  # its last word
        (0x0700FFF8, 2, Refusal.BEYOND),
        (0x07010000, 1, Refusal.BEYOND),
        (0x07010000, 0, None),  # no word, no byte outside
        (0x08000000, 1, Refusal.UNBOUND),
        (0xFF000000, 0, Refusal.UNBOUND),
    ],
)
def test_a_write_is_refused_where_its_handle_is_not_bound_or_its_end_is_beyond_the_region(
    dest: int, words: int, refusal: Refusal | None
) -> None:
    assert Regions(load_profile(PROFILE)).refusal(dest, words) is refusal


def test_a_card_without_regions_takes_any_destination_as_it_is() -> None:
    plain = Regions(load_profile("forth"))
    assert plain.refusal(0xFFFFFFFF, 512) is None
    assert plain.bound(0xDEADBEE8, 512) == 0xDEADBEE8


def test_what_a_driver_makes_of_any_wish_is_within_a_region() -> None:
    regions = Regions(load_profile(PROFILE))
    draw = np.random.default_rng(1)
    for dest in draw.integers(0, 1 << 32, 2_000).tolist():
        for words in (0, 1, 512):
            assert regions.refusal(regions.bound(dest, words), words) is None
            assert regions.bound(dest, words) % 8 == 0


def test_the_hash_of_a_map_with_regions_is_that_of_the_text_with_one_counter_more() -> None:
    lines = MAP.read_text("ascii").splitlines()
    for line in list(lines):
        if "events_lost" in line:
            address, rest = line.split(" ", 1)
            lines.append(
                f"{int(address, 16) + 8:08x} {rest.replace('events_lost', 'writes_refused')}"
            )
    text = "".join(f"{line}\n" for line in sorted(lines))
    assert map_hash_for(Form(2, True)) == int(hashlib.sha256(text.encode()).hexdigest()[:8], 16)
    added = {r.name: r.address for r in registers_for(Form(2, True)) if "refused." in r.name}
    assert added["frozen_counters.writes_refused.lo"] == 0x1900
    assert added["snapshot.writes_refused.lo"] == 0x1100


@pytest.mark.parametrize("seed", range(4))
def test_a_refused_write_is_counted_logged_and_never_notified_and_its_words_are_conserved(
    seed: int,
) -> None:
    target, a, b = _frozen(FAULT, seed)
    nics = target.pair.nics
    assert [nic.counts["writes_refused"] for nic in nics] == [0, 1]
    assert int(target.read([b.base + 0x1900])[0]) == 1
    told = b.events(Kind.USER, 1)
    assert len(told) == 1
    seq, handle, reason = told[0].value & 0xFFFF, told[0].value >> 16 & 0xFF, told[0].value >> 24
    injected = target.pair.truth.injections[0].detail
    assert (handle, told[0].source) == (injected["handle"], 4)
    assert reason == (1 if handle >= 8 else 2)
    sent = [p for p in packets_of(a.words(0)) if p.address >> 24 == handle and p.seq == seq]
    for packet in sent:
        assert packet.address & 0xFFFFFF == injected["offset_B"]
        assert packet.length == injected["words"]
    assert seq not in [note.value for note in b.events(Kind.NOTE, NoteCode.REMOTE)]
    left, drops = b.counter("rx_deq_packets"), b.counter("drops")
    delivered = sum(b.read("length_histogram", bin_) for bin_ in range(16))
    assert left - drops - 1 - delivered in (0, 1)
    for flow in range(8):
        assert b.flow(flow)["freed"] <= b.flow(flow)["received"]


def test_a_clean_run_refuses_nothing_and_is_the_same_for_the_same_seed() -> None:
    banks = []
    for _ in range(2):
        target, _, b = _frozen("none", 3)
        assert b.counter("drops") == 0
        assert [nic.counts["writes_refused"] for nic in target.pair.nics] == [0, 0]
        assert target.pair.nics[1].bank is not None
        banks.append(target.pair.nics[1].bank)
    assert banks[0].values == banks[1].values
    assert banks[0].counters == banks[1].counters


def test_explain_tells_the_packet_the_handle_and_why(run: Run) -> None:
    finding = run.said["both"][0]
    injected = run.truth["injections"][0]["detail"]
    assert (finding["diagnosis"], finding["device"], finding["tap"]) == (
        "access-refused", "B", "rx_deq",
    )  # fmt: skip
    assert f"handle {injected['handle']}" in finding["text"]
    assert "Nothing of it was written and nobody was notified" in finding["text"]
    assert "host" in run.causes["A"][0]
    assert Cause.HOST.name.lower() in run.causes["A"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[regions]\ncount = 0\n", r"mine\.toml:3: regions\.count = 0; it must be a whole number 1\.\.256"),
        ("[regions]\nsize_words = 511\n", r"mine\.toml:3: regions\.size_words = 511 cannot hold a whole message"),
        ("[regions]\nsize = 3\n", r"mine\.toml:3: unknown key regions\.size; \[regions\] has count, size_words"),
        ("[regions]\n", r"forth-regions\.toml:\d+: regions\.count = 0, and .*that of 2 lanes with"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_regions_is_named_with_file_line_and_key(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f'extends = "{PROFILE}"\n{text}')
    with pytest.raises(InputError, match=says):
        load_profile(str(path))


def test_half_a_region_and_regions_that_the_card_has_not_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "forth"\n[regions]\ncount = 4\n')
    with pytest.raises(
        InputError, match=r"mine\.toml:3: regions\.count without regions\.size_words"
    ):
        load_profile(str(path))
    path.write_text('extends = "forth"\n[regions]\ncount = 4\nsize_words = 512\n')
    with pytest.raises(
        InputError, match=r"mine\.toml:3: regions\.count = 4, and the card forth has"
    ):
        load_profile(str(path))


def test_the_fault_needs_a_card_with_regions() -> None:
    with pytest.raises(
        InputError, match=r"profile forth has no \[regions\]; forth-regions has them"
    ):
        EmulatorTarget("forth", FAULT)
