"""plot as a command: a picture that another program reads, and one line for what cannot be drawn."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PyQt6.QtGui import QImage, qGray

from freezeframe.capture.errors import InputError
from freezeframe.gui.plots import picture
from tests.gui.cli import refusal, run_inside
from tests.gui.desktop.captures import emulated
from tests.gui.made_capture import made_capture


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plot") / "made.ff"
    made_capture(folder)
    return folder


def read(path: Path) -> QImage:
    """Return a picture as another library reads it."""
    image = QImage(str(path))
    assert not image.isNull()
    return image


def shades(image: QImage) -> list[int]:
    """Return how light the pixels of a coarse grid are, 0 to 255."""
    spots = ((x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7))
    return sorted(qGray(image.pixel(x, y)) for x, y in spots)


def test_png_and_svg_hold_the_same_drawings_of_the_report(capture: Path, tmp_path: Path) -> None:
    for name in ("p.svg", "p.png"):
        done = run_inside(
            "plot", str(capture), "--what", "throughput,time-line", "-o", str(tmp_path / name)
        )
        assert (done.code, done.err) == (0, "")
        assert f"{name}: 7 drawings" in done.out
    svg = ET.fromstring((tmp_path / "p.svg").read_text())
    titles = [e.text for e in svg.iter("{http://www.w3.org/2000/svg}title")]
    assert "Time line around word-omitted" in titles
    image = read(tmp_path / "p.png")
    assert image.width() == round(float(svg.attrib["width"]))
    assert image.height() == round(float(svg.attrib["height"]))
    assert len(set(shades(image))) > 20


def test_a_scale_makes_a_png_larger_and_a_dark_one_dark(capture: Path, tmp_path: Path) -> None:
    small, large = tmp_path / "1.png", tmp_path / "2.png"
    assert run_inside("plot", str(capture), "-o", str(small)).code == 0
    done = run_inside("plot", str(capture), "-o", str(large), "--scale", "2", "--theme", "dark")
    assert done.code == 0
    light, dark = read(small), read(large)
    assert (dark.width(), dark.height()) == (2 * light.width(), 2 * light.height())
    middle = [grey[len(grey) // 2] for grey in (shades(light), shades(dark))]
    assert middle[0] > 250
    assert middle[1] < 40


def test_json_names_the_drawings_and_what_was_not_drawn(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.svg"
    done = run_inside(
        "plot", str(capture), "--what", "throughput,host,host", "-o", str(out), "--json"
    )
    document = json.loads(done.out)
    assert document["plot"] == str(out)
    assert document["bytes"] == out.stat().st_size
    assert len(document["drawings"]) == 5
    assert [line.split(":")[0] for line in document["not_drawn"]] == ["host"]


def test_what_is_not_in_this_capture_is_told_from_what_is_never_drawn(tmp_path: Path) -> None:
    capture = emulated(tmp_path / "x.ff", "header-corrupted")  # nothing waited for credit in it
    asked = (
        "plot",
        str(capture),
        "--what",
        "throughput,pressure,taps",
        "-o",
        str(tmp_path / "p.svg"),
    )
    assert run_inside(*asked).err.splitlines() == [
        "freezeframe: pressure: it draws waits, and there are none in this capture; "
        "'freezeframe analyze pressure' has its figures",
        "freezeframe: taps: it is never drawn; its figures and tables are what 'freezeframe analyze taps' prints",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-o", "p.pdf"), "a picture is written as .png or .svg"),
        (("-o", "missing/p.png"), "there is no such folder"),
        (("-o", "there.svg"), "exists already; --force replaces it"),
        (
            ("-o", "p.png", "--what", "thruput"),
            "--what: there is no drawing 'thruput'; did you mean throughput?",
        ),
        (("-o", "p.png", "--what", ","), "names no analysis"),
        (("-o", "p.png", "--what", "host"), "nothing to draw: host: the capture holds no trace"),
        (
            ("-o", "p.png", "--what", "crc"),
            "crc: it is never drawn; its figures and tables are what 'freezeframe analyze crc' prints",
        ),
        (("-o", "p.png", "--device", "C"), "no device 'C'; the capture holds A, B"),
        (("-o", "p.png", "--scale", "1000"), "a PNG may have 1 to 100,000,000 pixels"),
        (("-o", "p.png", "--scale", "0"), "a PNG may have"),
        (("-o", "p.png", "--scale", "nan"), "a PNG may have"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_cannot_be_drawn_is_one_line_and_leaves_nothing(
    capture: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("there.svg").write_text("mine")
    assert says in refusal("plot", str(capture), *arguments)
    assert [p.name for p in tmp_path.iterdir()] == ["there.svg"]
    assert Path("there.svg").read_text() == "mine"


def test_the_evidence_is_no_place_for_a_picture(capture: Path) -> None:
    assert "is evidence" in refusal("plot", str(capture), "-o", str(capture / "p.png"))


def test_without_a_font_a_png_is_refused_because_its_texts_would_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What resvg does then: it leaves texts out and says nothing."""
    import resvg_py

    draw = resvg_py.svg_to_bytes

    def bare(**options: object) -> bytes:
        return bytes(draw(**(options | {"skip_system_fonts": True})))  # type: ignore[arg-type]

    monkeypatch.setattr(resvg_py, "svg_to_bytes", bare)
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><text>x</text></svg>'
    with pytest.raises(InputError, match="no font is installed here"):
        picture.picture_png(svg)
