"""What a capture cannot say is refused in one line: each trap is a real recording of the emulated pair."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from freezeframe.analyzers.calibrate.fit import Fit, fitted
from freezeframe.analyzers.calibrate.refusals import CannotSay
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.emulator.reading import Card

Prepare = Callable[[EmulatorTarget], None]


def recorded(
    folder: Path,
    count: int = 60,
    gap_ns: float = 15_000.0,
    profile: str = "",
    prepare: Prepare | None = None,
) -> CaptureView:
    """Record messages of card A, a random size each, and pull the recording."""
    draw, t_ns, lines = random.Random(16), 0.0, []
    for _ in range(count):
        t_ns += draw.expovariate(1 / gap_ns) if gap_ns else 0.0
        lines.append(f"{t_ns:.3f},A,{draw.randrange(2)},{8 * draw.choice((1, 64, 300, 512))}\n")
    (folder / "messages.csv").write_text("".join(lines))
    (folder / "card.toml").write_text(f'extends = "forth"\n{profile}\n')
    target = EmulatorTarget(
        str(folder / "card.toml"), seed=16, workload=str(folder / "messages.csv")
    )
    if prepare is not None:
        prepare(target)
    target.advance(round(t_ns * 1000) + count * 9_000_000 + 30_000_000)
    pull(target, folder / "card.ff", freeze=True)
    return CaptureView(CaptureFolder.open(folder / "card.ff"))


def refused(view: CaptureView) -> str:
    with pytest.raises(CannotSay) as found:
        fitted(view)
    text = str(found.value)
    assert "\n" not in text and text.startswith(str(view.folder.path))
    return text.removeprefix(f"{view.folder.path}: ")


def test_a_capture_gives_back_the_numbers_of_the_card_that_made_it(tmp_path: Path) -> None:
    fit: Fit = fitted(
        recorded(
            tmp_path,
            profile="[clocks]\nbus_hz = 66_000_000\n[bus]\noverhead_cycles = 11\nsplit_min_cycles = 30\n"
            "split_max_cycles = 40\ncompletion_cycles = 6\nwrite_cycles = 7\nwrite_burst_words = 64\n"
            "[link]\nlatency_ps = 500_000\n",
        )
    )
    found = {value.name: value for value in fit.values}
    assert found["bus_MHz"].value == 66
    assert found["overhead_cycles"].value == 11
    assert found["post_cycles"].value == 28
    assert found["completion_cycles"].value == 6
    assert found["burst_words"].value == 64
    assert found["split_cycles"].low <= 35 <= found["split_cycles"].high
    assert 500 < found["flight_ns"].value < 500 + 7 * 12.8
    assert len(fit.arrivals) == 60


def test_one_end_is_refused(tmp_path: Path) -> None:
    whole = recorded(tmp_path)
    assert refused(CaptureView(whole.folder, ["A"])).startswith("one end: it holds A and not")


@pytest.mark.parametrize(("kind", "name"), [(5, "DESC"), (8, "STATE")])
def test_a_log_without_bus_events_is_refused(tmp_path: Path, kind: int, name: str) -> None:
    def switch_off(target: EmulatorTarget) -> None:
        for index in (0, 1):
            Card(target, index).write("ctl.kinds", 4, 0xFFFF & ~(1 << kind))

    assert refused(recorded(tmp_path, prepare=switch_off)).startswith(
        f"no bus events: A.event_log did not record {name}"
    )


def test_too_few_messages_are_refused(tmp_path: Path) -> None:
    assert refused(recorded(tmp_path, count=12)).startswith("too few messages: 12 are recorded")


def test_a_log_that_wrapped_while_the_card_was_never_idle_is_refused(tmp_path: Path) -> None:
    view = recorded(tmp_path, count=120, gap_ns=0.0, profile="[trace]\nevent_depth = 1024\n")
    assert refused(view).startswith("wrapped memory: A.event_log")


def test_a_log_that_wrapped_is_used_from_where_the_card_was_idle(tmp_path: Path) -> None:
    view = recorded(tmp_path, count=120, gap_ns=60_000.0, profile="[trace]\nevent_depth = 1024\n")
    assert 20 <= len(fitted(view).arrivals) < 120


def test_a_log_that_lost_events_does_not_know_all_sizes(tmp_path: Path) -> None:
    view = recorded(tmp_path, gap_ns=0.0, profile="[trace]\nevent_fifo = 4\n")
    assert refused(view).startswith("unknown sizes: ")


def test_messages_that_the_card_made_between_those_of_its_host_are_refused(tmp_path: Path) -> None:
    def pattern(target: EmulatorTarget) -> None:
        card = Card(target, 0)
        card.write("provoke.traffic_gap", 9000)
        card.write("provoke.traffic", 1 | 5 << 16)

    assert refused(recorded(tmp_path, prepare=pattern)).startswith("flows mixed: ")


def test_a_receiving_host_that_stops_is_saturated_elsewhere(tmp_path: Path) -> None:
    def stop(target: EmulatorTarget) -> None:
        target.advance(100_000_000)
        target.pair.nics[1].rx_dma.host_stopped = True
        target.advance(150_000_000)
        target.pair.nics[1].rx_dma.host_stopped = False
        target.pair.nics[1].rx_dma.allowed.give()

    assert refused(recorded(tmp_path, prepare=stop)).startswith(
        "saturated elsewhere: the host of B"
    )


def test_waits_for_credit_are_saturated_elsewhere(tmp_path: Path) -> None:
    view = recorded(
        tmp_path,
        gap_ns=0.0,
        profile="[flows]\ncredit_unit_words = 500\n[link]\nlatency_ps = 3_000_000\n[trace]\nevent_depth = 8192\n",
    )
    assert refused(view).startswith("saturated elsewhere: A waited for credit")
