"""Several targets in one capture: `freezeframe.capture.recorder.case`, over real sockets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import CaptureFolder, HostTrace, peers_of
from freezeframe.capture.folder.manifest import manifest_digest, manifest_text
from freezeframe.capture.recorder.case import SameTime, pull_case
from freezeframe.capture.targets.base import open_target
from freezeframe.capture.timebase import UNKNOWN_PS
from freezeframe.decoders.trace.decode import decode_capture
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.apart import pair_apart, served_apart


@pytest.fixture(scope="module")
def frozen() -> EmulatorTarget:
    return pair_apart("word-omitted", 2)


@pytest.fixture(scope="module")
def case(frozen: EmulatorTarget, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("case") / "case.ff"
    with served_apart(frozen) as cards:
        report = pull_case(cards, path)
    assert report.complete and report.devices == ("A", "B")
    yield path


def test_the_only_cards_of_two_targets_become_a_and_b_and_each_others_peer(case: Path) -> None:
    folder = CaptureFolder.open(case)
    assert [device.name for device in folder.devices] == ["A", "B"]
    assert [device.target for device in folder.devices] == [0, 1]
    # What a card says of itself is not altered: either is the only device of its target.
    assert {device.identity.devices_index for device in folder.devices} == {0}
    assert peers_of(folder.devices) == {"A": "B", "B": "A"}
    assert len(folder.manifest["targets"]) == 2 and folder.manifest["format"][1:] == [2, 0]


def test_the_fault_between_two_computers_is_named_as_that_between_two_cards_of_one(
    case: Path,
) -> None:
    findings = explain(CaptureFolder.open(case)).findings
    assert [finding.diagnosis for finding in findings] == ["word-omitted"]
    assert findings[0].direction == "A->B" and findings[0].t_ps is not None


def test_times_of_both_ends_agree_with_the_simulation_within_what_is_stated(
    case: Path, frozen: EmulatorTarget
) -> None:
    trace = decode_capture(CaptureFolder.open(case))
    a, b = (nic.bus.clock for nic in frozen.pair.nics)
    times = trace.events[trace.events["source"] == "B.event_log"]
    assert len(times) > 100
    for cycle, t_ps, unc_ps in zip(times["cycle"], times["t_ps"], times["t_unc_ps"], strict=True):
        # The axis is A's nominal clock: where A's counter stood when B's stood there.
        of_a = a.cycle_at(b.edge_ps(int(cycle)))
        axis_ps = trace.timebase.instant_ps("A", "bus", of_a) - trace.timebase.origin_ps
        assert unc_ps != UNKNOWN_PS and unc_ps < 2_000_000
        assert abs(t_ps - axis_ps) <= unc_ps + 10_000  # A's counter counts in 10 ns


def test_how_time_lines_relate_is_known_and_noted(case: Path) -> None:
    trace = decode_capture(CaptureFolder.open(case))
    assert trace.relations[1] is not None
    assert any("time lines related" in note for note in trace.notes)


def test_a_given_pair_of_instants_narrows_what_the_packets_allow(
    frozen: EmulatorTarget, tmp_path: Path
) -> None:
    a, b = (nic.bus.clock for nic in frozen.pair.nics)
    at = frozen.pair.nics[0].freeze.frozen_ps or 0
    text = f"A.bus:{a.cycle_at(at)}=B.bus:{b.cycle_at(at)}+-20"
    with served_apart(frozen) as cards:
        pull_case(cards, tmp_path / "given.ff", same_time=[SameTime.parse(text)])
    folder = CaptureFolder.open(tmp_path / "given.ff")
    assert folder.manifest["time_pairs"][0]["unc_ps"] == 20_000
    trace = decode_capture(folder)
    relation = trace.relations[1]
    assert relation is not None and relation.offset_unc_ps < 150_000  # packets alone: over 300 ns
    assert any("instants given as one, checked against" in note for note in trace.notes)


def test_a_pair_by_which_packets_arrive_before_they_are_sent_is_not_believed(
    frozen: EmulatorTarget, tmp_path: Path
) -> None:
    with served_apart(frozen) as cards:
        lie = SameTime.parse("A.bus:100=B.bus:200000+-5")
        pull_case(cards, tmp_path / "lie.ff", same_time=[lie])
    trace = decode_capture(CaptureFolder.open(tmp_path / "lie.ff"))
    relation = trace.relations[1]
    assert relation is not None and 150_000 < relation.offset_unc_ps < 1_000_000
    assert any("something would have arrived before it was sent" in note for note in trace.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("A.bus:1", "write A.bus:CYCLE=B.bus:CYCLE"),
        ("A.bus:1=B.bus:2+-x", "write A.bus:CYCLE=B.bus:CYCLE"),
        (
            "A.pci:1=B.bus:2",
            r"'A.pci:1' is no instant; write DEVICE.CLOCK:CYCLE with CLOCK bus or link",
        ),
        ("A.bus:-1=B.bus:2", "is no instant"),
    ],
)
def test_a_pair_that_is_none_is_refused_with_the_form(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        SameTime.parse(text)


def test_nothing_is_written_when_a_pair_or_a_trace_names_a_card_that_is_not_there(
    frozen: EmulatorTarget, tmp_path: Path
) -> None:
    path = tmp_path / "none.ff"
    with (
        served_apart(frozen) as cards,
        pytest.raises(InputError, match="no device 'C'; the capture"),
    ):
        pull_case(cards, path, same_time=[SameTime.parse("A.bus:1=C.bus:2")])
    with served_apart(frozen) as cards, pytest.raises(InputError, match=r"trace.txt: is empty"):
        pull_case(cards, path, host=lambda: [HostTrace("trace.txt", "A", b" \n")])
    assert not path.exists()


def test_a_single_target_gives_the_folder_that_it_always_gave(tmp_path: Path) -> None:
    from freezeframe.capture.recorder.pull import pull

    paths = [tmp_path / "one.ff", tmp_path / "case.ff"]
    for path in paths:
        target = EmulatorTarget("forth", "none", 3, nonce=1)
        target.run_until_frozen(200_000_000)
        if path.name == "one.ff":
            pull(target, path, freeze=True)
        else:
            pull_case([target], path, freeze=True)
    manifests = [json.loads((path / "manifest.json").read_bytes()) for path in paths]
    for manifest in manifests:
        del manifest["digest"]  # covers the times in the history
        assert [act["what"] for act in manifest["history"]] == ["armed", "frozen", "pulled"]
        assert [act.pop("when") is None for act in manifest["history"]] == [True, False, False]
        manifest["history"][1].pop("seen")
    assert manifests[0] == manifests[1] and manifests[0]["format"][1:] == [2, 0]


@pytest.mark.parametrize(
    "pair",
    [{"a": ["A", "bus", -1], "b": ["B", "bus", 1], "unc_ps": 0}, {"a": ["A", "pci", 1]}, 7],
)
def test_a_manifest_that_lies_about_pairs_is_a_damaged_one(
    case: Path, tmp_path: Path, pair: object
) -> None:
    import shutil

    copy = tmp_path / "lie.ff"
    shutil.copytree(case, copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["time_pairs"] = [pair]
    manifest["digest"] = manifest_digest(manifest)
    (copy / "manifest.json").write_bytes(manifest_text(manifest))
    with pytest.raises(CaptureFormatError, match=r"does not describe what is in raw/"):
        CaptureFolder.open(copy)


def test_one_card_over_two_ways_is_refused(frozen: EmulatorTarget, tmp_path: Path) -> None:
    with served_apart(frozen) as (first, _), closing(open_target(first.url)) as again:
        says = pytest.raises(
            InputError, match=r"lead to the same card, boot nonce 0x\w+; name it once"
        )
        with says:
            pull_case([first, again], tmp_path / "twice.ff")
    assert not (tmp_path / "twice.ff").exists()
