"""The verbs that show a capture of a described card: analyze, report, plot, on each card that ships."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import CardRecording, Feature
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import SERVED, CardImage, empty_recording
from tests.campaign.card_model import SHAPES, run_card
from tests.decoders.tap.test_event_log import LOG
from tests.decoders.tap.test_event_log import recording as logged
from tests.gui.browser import dump_dom
from tests.gui.cli import refusal, run_inside

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


def test_without_a_name_those_that_such_a_card_can_be_asked_are_listed(capture: Path) -> None:
    done = run_inside("analyze", str(capture))
    assert (done.code, done.err) == (0, "")
    names = [line.split("  ")[0] for line in done.out.split("\n\n")[0].splitlines()]
    listed = ["conservation", "crc", "latency", "pressure", "taps", "throughput", "transactions"]
    assert names == listed
    assert "What became of each packet between two taps of a path." in done.out
    assert f"Run all of them:  freezeframe analyze {capture} all\n" in done.out


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
    said = refusal("analyze", str(capture), "taps", "--device", "B")
    assert "no device 'B'; the capture holds A" in said


def test_a_capture_without_its_card_is_one_line_with_its_hash(
    capture: Path, tmp_path: Path
) -> None:
    place = tmp_path / "bare.ff"
    shutil.copytree(capture, place)
    (text,) = (place / "cards").iterdir()
    text.unlink()
    said = refusal("analyze", str(place), "throughput")
    # Another card file was added to when the model made it, so no shipped card has its hash.
    assert f"cards/{text.name}: the capture is without its card" in said


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


def test_the_report_holds_finding_evidence_packets_counters_laws_and_the_card(
    capture: Path, tmp_path: Path
) -> None:
    page = tmp_path / "x.html"
    done = run_inside("report", str(capture), "-o", str(page), "--json")
    said = json.loads(done.out)
    assert said["findings"] == ["beat-omitted"]
    assert {*ASKED, "conservation"} <= set(said["analyses"])
    text = page.read_text()
    for part in (
        "<h1>beat-omitted: a beat of a packet was lost in A, rx_in to rx_out</h1>",
        "not counted yet",
        "Time line around beat-omitted",
        ">Path rx</text>",
        "<h2>Packets around it</h2>",
        "needs a log of credits as they are sent and taken",
        "<td>rx_dropped</td>",
        "law rx.rx_in-rx_out.packets: rx_in_packets",
        "drops whole packets, counted by rx_dropped",
        f"{CardFolder.open(capture).devices[0].identity.card_hash:016x}",
    ):
        assert part in text, part
    assert run_inside("report", str(capture), "-o", str(page)).code == 2  # it is there already
    assert ff.report(capture, page, analyses=False, overwrite=True) == page
    assert 'id="analyses"' not in page.read_text()


def test_the_report_of_a_clean_card_says_what_was_looked_at(tmp_path: Path) -> None:
    pull(CardImage([recorded("ethernet-axis-64", "none")]), tmp_path / "x.ff")
    ff.report(tmp_path / "x.ff", tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text()
    assert "<h1>No fault found</h1>" in text
    assert "Nothing is wrong in what could be looked at. It was frozen by host at A." in text
    assert "<h2>Looked at</h2>" in text


def test_the_report_of_two_cards_has_a_part_for_each(tmp_path: Path) -> None:
    both = [recorded("ethernet-axis-64", "bits-flipped"), recorded("ethernet-8", "bad-fcs")]
    pull(CardImage(both), tmp_path / "two.ff")
    ff.report(tmp_path / "two.ff", tmp_path / "two.html")
    text = (tmp_path / "two.html").read_text()
    parts = [
        text.index(f"<h2>Device {name}</h2>") for name in ("A, ethernet-axis-64", "B, ethernet-8")
    ]
    assert parts[0] < text.index("bits-altered:") < parts[1] < text.index("bad-on-arrival:")


def test_a_report_reads_in_a_browser_as_it_was_written(capture: Path, tmp_path: Path) -> None:
    ff.report(capture, tmp_path / "x.html", analyses=False)
    dom = dump_dom(tmp_path / "x.html", tmp_path / "home")
    assert "Same range everywhere" in dom  # the page's script has drawn its buttons
    assert ">fails a check</li>" in dom


def test_nothing_that_is_not_recorded_is_drawn(tmp_path: Path) -> None:
    card = elaborate(read_card(shipped_cards()["ethernet-axis-64"]))
    pull(CardImage([empty_recording(card)]), tmp_path / "x.ff")
    ff.report(tmp_path / "x.ff", tmp_path / "x.html")
    text = (tmp_path / "x.html").read_text()
    assert "<h1>Nothing found, and not all could be looked at</h1>" in text
    assert "No packet has a time, so there is nothing to draw." in text
    assert "<h2>What could not be asked</h2>" in text
    assert "gap-in-packet: needs a cause with check = &quot;gap&quot; at a tap" in text
    said = refusal(
        "plot", str(tmp_path / "x.ff"), "--what", "time-line", "-o", str(tmp_path / "x.svg")
    )
    assert "nothing to draw: time-line: no packet has a time" in said


def test_plot_draws_throughput_pressure_and_the_time_line(capture: Path, tmp_path: Path) -> None:
    place = tmp_path / "x.svg"
    done = run_inside(
        "plot", str(capture), "--what", "throughput,latency,time-line", "-o", str(place), "--json"
    )
    titles = json.loads(done.out)["drawings"]
    assert titles[0].startswith("A.rx_in, throughput")
    assert titles[-2:] == ["Time line around beat-omitted", "Time line of the whole recording"]
    assert "A.rx_out" in place.read_text()
    none = run_inside("plot", str(capture), "--what", "dma", "-o", str(tmp_path / "y.svg"))
    assert "could not be asked: needs a log of descriptors and transfers" in none.err


def test_what_the_card_logged_stands_on_the_time_line_and_in_words(tmp_path: Path) -> None:
    made = replace(logged(LOG), features=SERVED | Feature.EVENT_LOG, causes=1)
    log_alone = replace(made, taps={"t": empty_recording(made.card).taps["t"]})
    pull(CardImage([log_alone]), tmp_path / "log.ff")
    ff.report(tmp_path / "log.ff", tmp_path / "log.html")
    text = (tmp_path / "log.html").read_text()
    assert "<li>alarm 0x5a, 120 ns before the cause</li>" in text
    assert ">A fsm</text>" in text and ">run</text>" in text
    assert ">run</li>" in text  # what its colour means


def test_a_notebook_shows_the_capture_its_explanation_and_its_results(capture: Path) -> None:
    folder = CardFolder.open(capture)
    shown = folder._repr_html_()
    assert "drops whole packets, counted by rx_dropped" in shown and "<script" not in shown
    assert "beat-omitted: a beat of a packet was lost" in ff.explain(folder)._repr_html_()
    assert "A.rx_in, throughput" in ff.analyze(folder, "throughput")._repr_html_()
