"""The PCI-SCI bridge down to its cycles: its phases by its own capture, what is conserved, each fault by name."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.laws import check_laws
from freezeframe.analyzers.card.phases import ways_of
from freezeframe.analyzers.card.transactions import tracked
from freezeframe.analyzers.card.view import CardView
from freezeframe.capture.errors import InputError
from freezeframe.decoders.sci import layout
from freezeframe.emulator.adapter.outcome import run_adapter
from freezeframe.emulator.adapter.reading import load_adapter
from freezeframe.emulator.sci.bridge import Bridge
from freezeframe.emulator.sci.faults import FAULTS, SciFault
from freezeframe.emulator.sci.parts import NODE, Page, Tables, sizes_of
from freezeframe.emulator.sci.record import SciRun, run_bridge
from freezeframe.emulator.sci.workloads import WORKLOADS

CYCLE_PS = 30_000
NAMED = {
    "nwrite-response-confused": {"answer-confused"},
    "response-lost": {"packet-dropped", "answer-missing"},
    "packet-damaged": {"bits-altered"},
    "incoming-buffers-leak": {"receiver-without-room", "stalled"},
    "page-not-exported": {"access-refused"},
    "page-not-imported": {"access-refused"},
}


class Blind:
    """Watches nothing."""

    def packet(self, tap: str, begin: int, data: bytes) -> None: ...
    def event(self, name: str, cycle: int, value: int) -> None: ...
    def state(self, name: str, cycle: int, was: int, now: int) -> None: ...
    def cause(self, name: str, cycle: int) -> None: ...


def profile(folder: Path, **values: int) -> str:
    path = folder / "own.toml"
    path.write_text(
        'extends = "pci-sci"\n[parameter]\n' + "".join(f"{k} = {v}\n" for k, v in values.items())
    )
    return str(path)


def bridge(tables: Tables, **values: int) -> Bridge:
    sizes = sizes_of("pci-sci")
    return Bridge(
        sizes.__class__(**{**sizes.__dict__, **values}), tables, SciFault(random.Random(0)), Blind()
    )


def settle(one: Bridge) -> None:
    while one.cycles.step(1_000_000):
        pass


def test_a_write_of_one_word_takes_the_papers_89_cycles_phase_by_phase() -> None:
    ((_, found),) = ways_of(CardView.of(run_bridge(workload="single-4B").recording))
    assert found.complete >= 20 and found.incomplete == 0
    cycles = {p.name: (p.min_ps // CYCLE_PS, p.max_ps // CYCLE_PS) for p in found.phases}
    assert cycles == {
        "A": (5, 5), "B": (20, 20), "C": (8, 8), "D": (21, 21), "E": (3, 3), "F": (4, 4), "G": (9, 9),
        "H": (7, 7), "I": (8, 8), "J": (4, 4),
    }  # fmt: skip
    assert found.whole is not None and (found.whole.min_ps, found.whole.max_ps) == (
        2_670_000,
        2_670_000,
    )


def test_the_profile_of_stages_has_the_same_latency() -> None:
    outcome = run_adapter(load_adapter("pci-sci"))
    assert outcome.latency_ns()["p50"] == 2670


@pytest.mark.parametrize(
    ("parameter", "phase"), [("epu_cycles", "G"), ("transit_cycles", "D"), ("master_cycles", "H")]
)
def test_a_phase_moves_with_its_parameter(tmp_path: Path, parameter: str, phase: str) -> None:
    was = getattr(sizes_of("pci-sci"), parameter)
    name = profile(tmp_path, **{parameter: was + 2})
    ((_, found),) = ways_of(CardView.of(run_bridge(name, workload="single-4B").recording))
    ((_, before),) = ways_of(CardView.of(run_bridge(workload="single-4B").recording))
    gained = {
        p.name: (p.min_ps - q.min_ps) // CYCLE_PS
        for p, q in zip(found.phases, before.phases, strict=True)
    }
    assert gained[phase] == (6 if parameter == "epu_cycles" else 2)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("buffers", [1, 3, 64])
def test_memory_holds_what_was_written_however_few_buffers_there_are(
    seed: int, buffers: int
) -> None:
    chance = random.Random(seed)
    pages = {1: Page(answered=True), 2: Page(answered=False)}
    one = bridge(
        Tables(pages, pages),
        timeout_us=10_000,
        incoming_buffers=buffers,
        ids_enabled=(2, 32)[seed % 2],
    )
    wanted: dict[int, int] = {}
    free = {page * 1024 + n for page in pages for n in range(1024)}
    for _ in range(60):
        at, count = chance.choice(sorted(free)), chance.randrange(1, 40)
        words = []
        for n in range(at, at + count):
            if n not in free:
                break
            free.discard(n)  # each word once: a refused packet is late, and order is not kept
            words.append(chance.getrandbits(32))
            wanted[4 * n] = words[-1]
        one.write(4 * at, words)
    settle(one)
    counts = one.books.counts
    assert one.memory == wanted
    assert (
        counts["ids_taken"]
        == counts["ids_returned"]
        == counts["requests_sent"] + counts["posted_sent"]
    )
    assert sorted(one.free) == list(range(one.sizes.ids_enabled)) and not one.out and not one.open
    assert counts["responses_taken"] == counts["requests_sent"] == counts["responses_sent"]
    assert one.incoming_free == buffers
    assert counts["packets_refused"] == 0 or buffers < 64
    assert counts["packets_driven"] == counts["packets_accepted"] + counts["packets_refused"]


def test_a_write_is_cut_at_blocks_of_64_bytes_and_its_pointers_say_what_is_valid() -> None:
    class Kept(Blind):
        sent: list[tuple[int, ...]] = []  # noqa: RUF012

        def packet(self, tap: str, begin: int, data: bytes) -> None:
            if tap == "blink_out":
                self.sent.append(
                    tuple(layout.value_of(data, n) for n in ("address", "start", "end"))
                )

    pages = {1: Page()}
    one = Bridge(sizes_of("pci-sci"), Tables(pages, pages), SciFault(random.Random(0)), Kept())
    one.write(4096 + 56, range(20))
    settle(one)
    assert Kept.sent == [(4096, 14, 16), (4160, 0, 16), (4224, 0, 2)]


def test_a_page_that_is_not_exported_is_not_written_and_the_sender_is_told() -> None:
    one = bridge(Tables({1: Page(answered=True)}, {}))
    one.write(4096, [7])
    settle(one)
    assert one.memory == {}
    assert one.books.counts["writes_refused_up"] == 1
    assert one.books.counts["responses_taken"] == 1


def test_a_page_that_may_not_be_written_sends_no_packet_and_its_id_comes_back() -> None:
    one = bridge(Tables({1: Page(writable=False)}, {1: Page()}))
    one.write(4096, [7])
    settle(one)
    assert one.books.counts["packets_driven"] == 0 and not one.out
    assert one.books.counts["writes_refused_down"] == 1


def test_a_manual_packet_passes_the_ring_without_an_id_of_the_pool() -> None:
    one = bridge(Tables({}, {}))
    packet = layout.encode(
        layout.Header(
            layout.QUEUES["manual"], 0, NODE, layout.COMMANDS["dmove64"], NODE, 1, 63, 0, 16, 0
        ),
        bytes(64),
    )
    one.send_manual(packet)
    settle(one)
    assert one.manual_queue == [packet]
    assert one.books.counts["ids_taken"] == 0 and one.memory == {}


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
@pytest.mark.parametrize("seed", range(5))
def test_a_healthy_card_has_no_finding_and_keeps_its_laws(workload: str, seed: int) -> None:
    made = run_bridge(seed=seed, workload=workload)
    explained = explain_card(made.recording)
    assert explained.answer == "no fault found", [f.text for f in explained.findings]
    assert all(verdict.holds for verdict in check_laws(made.recording))
    assert made.truth == ()


@pytest.mark.parametrize("fault", sorted(NAMED))
def test_each_fault_is_named_where_it_struck_and_never_by_a_name_that_is_wrong(fault: str) -> None:
    assert set(NAMED) == set(FAULTS) - {"none"}
    struck = named = 0
    for seed in range(12):
        made = run_bridge(fault=fault, seed=seed)
        found = {finding.diagnosis for finding in explain_card(made.recording).findings}
        assert found <= NAMED[fault], (seed, found)
        broken = {verdict.law.name for verdict in check_laws(made.recording) if not verdict.holds}
        assert broken == ({"buffers_kept"} if fault == "incoming-buffers-leak" else set())
        shows = fault != "incoming-buffers-leak" or made.recording.cause_names == ("timed_out",)
        struck += bool(made.truth) and shows
        named += bool(found)
    assert struck >= 6
    assert named >= 0.9 * struck, (named, struck)


def test_the_known_defect_is_found_with_the_two_ids_that_it_confused() -> None:
    made = run_bridge(fault="nwrite-response-confused", seed=7)
    (finding,) = explain_card(made.recording).findings
    assert made.truth[0] == "the response of transaction 19 closed 20"
    assert "The answer for ID 19 closed the transaction of ID 20" in finding.text


def test_a_lying_return_of_ids_breaks_the_law_that_counts_them() -> None:
    made = run_bridge(seed=1)
    bank = {**made.recording.bank, "ids_out": made.recording.bank["ids_out"] + 1}
    changed = replace(made.recording, bank=bank)
    broken = [v.law.name for v in check_laws(changed) if v.holds is False]
    assert broken == ["ids_all", "ids_kept"]


def _bytes(run: SciRun) -> bytes:
    return b"".join(
        lane.tobytes() for tap in run.recording.recorders.values() for lane in tap.lanes
    )


def test_the_same_seed_gives_the_same_memories_and_another_seed_others() -> None:
    assert _bytes(run_bridge(seed=4)) == _bytes(run_bridge(seed=4)) != _bytes(run_bridge(seed=5))


def test_with_one_incoming_buffer_packets_are_refused_and_come_again() -> None:
    pages = {1: Page(answered=True)}
    one = bridge(Tables(pages, pages), incoming_buffers=1)
    one.write(4096, range(64))
    settle(one)
    assert one.books.counts["packets_refused"] > 0
    assert [one.memory[4096 + 4 * n] for n in range(64)] == list(range(64))


def test_exchanges_of_a_capture_that_nothing_was_lost_of_are_those_that_the_card_counted() -> None:
    made = run_bridge(workload="single-4B")
    (found,) = tracked(CardView.of(made.recording))
    assert found.counts["posted"] == made.bridge.books.counts["ids_taken"] == 30
    assert (found.most_out, found.refusals) == (1, 0)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ids_enabled = 65", "parameter.ids_enabled: 65; the bridge needs a whole number 1..64"),
        ("write_buffers = 0", "parameter.write_buffers: 0; the bridge needs a whole number 1..4"),
        ("epu_cycles = 2.5", "parameter.epu_cycles: 2.5; the bridge needs a whole number 1..1000000"),
        ("timeout_us = -1", "parameter.timeout_us: -1; the bridge needs a whole number 1..1000000"),
    ],
)  # fmt: skip
def test_a_number_that_the_bridge_cannot_have_is_refused_with_file_and_line(
    tmp_path: Path, line: str, says: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(f'extends = "pci-sci"\n[parameter]\n{line}\n')
    with pytest.raises(InputError) as refused:
        run_bridge(str(path))
    assert str(refused.value) == f"{path}:3: {says}"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"fault": "clock-drift"}, "profile pci-sci: there is no fault 'clock-drift'; there is none, nwrite"),
        ({"workload": "flood"}, "profile pci-sci: there is no workload 'flood'; there is mixed, single-4B"),
        ({"seed": -1}, "seed -1: a seed is a whole number from 0 on"),
    ],
)  # fmt: skip
def test_what_the_bridge_does_not_know_is_refused_with_what_there_is(
    wrong: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        run_bridge(**wrong)  # type: ignore[arg-type]
