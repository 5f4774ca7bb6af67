"""The verbs that show a capture of a described card: analyze, on each card that ships."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.capture.card.recording import CardRecording, Feature
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import CardImage
from tests.campaign.card_model import SHAPES, run_card
from tests.gui.cli import run_inside

ASKED = ("throughput", "latency", "taps", "crc", "pressure")


def recorded(shape: str, fault: str, seed: int = 3) -> CardRecording:
    """Return the recording of a shipped card, as a device of map 2 would hold it."""
    made, _ = run_card(shape, fault, seed)
    return replace(made, features=made.features | Feature.CRC_TABLE | Feature.TIME_PAIRS)


@pytest.fixture(scope="module", params=SHAPES)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("card") / "fault.ff"
    pull(CardImage([recorded(request.param, "beat-omitted")]), place)
    return place


def test_analyze_prints_figures_by_the_names_of_the_card_file(capture: Path) -> None:
    done = run_inside("analyze", str(capture), *ASKED, "credits")
    assert done.code == 0
    for line in (
        "A.rx_in, throughput  ",
        "A.rx_out, fastest interval",
        "A.rx_in->rx_out, first beat to first beat, median",
        "A.rx_in->rx_out, beat-omitted",
        "A.rx_in, packets that pass",
        "A.rx_out, cycles without a beat inside packets",
        "could not be asked: needs a log of credits as they are sent and taken",
    ):
        assert line in done.out, line
    assert run_inside("analyze", str(capture), "taps", "--fail-on-findings").code == 1


def test_json_and_python_give_the_same_figures_and_the_tables_can_be_written(
    capture: Path, tmp_path: Path
) -> None:
    done = run_inside("analyze", str(capture), *ASKED, "--json", "--tables", str(tmp_path / "t"))
    said = {one["analysis"]: one for one in json.loads(done.out)["analyses"]}
    assert list(said) == list(ASKED)
    results = ff.analyze(CardFolder.open(capture), *ASKED)
    for name, result in results.items():
        assert said[name]["figures"] == [figure.to_json() for figure in result.figures]
    assert ff.analyze(capture, "taps").figure("A.rx_in->rx_out.beat-omitted").value == 1
    assert (tmp_path / "t" / "latency.packets.parquet").is_file()


def test_a_device_that_is_not_there_is_one_line(capture: Path) -> None:
    done = run_inside("analyze", str(capture), "taps", "--device", "B")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "no device 'B'; the capture holds A" in done.err


def test_a_capture_without_its_card_is_one_line_with_its_hash(
    capture: Path, tmp_path: Path
) -> None:
    place = tmp_path / "bare.ff"
    shutil.copytree(capture, place)
    (text,) = (place / "cards").iterdir()
    text.unlink()
    done = run_inside("analyze", str(place), "throughput")
    # Another card file was added to when the model made it, so no shipped card has its hash.
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"cards/{text.name}: the capture is without its card" in done.err


def test_two_cards_of_one_capture_are_analysed_together(tmp_path: Path) -> None:
    both = [recorded("ethernet-axis-64", "none"), recorded("ethernet-8", "beat-omitted")]
    pull(CardImage(both), tmp_path / "two.ff")
    result = ff.analyze(tmp_path / "two.ff", "taps")
    assert result.figure("A.rx_in->rx_out.same").value
    assert result.figure("B.rx_in->rx_out.beat-omitted").value == 1
    assert (
        ff.analyze(tmp_path / "two.ff", "throughput", devices=["B"])
        .figures[0]
        .name.startswith("B.")
    )
