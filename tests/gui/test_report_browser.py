"""The report in a real browser: the script zooms, sorts and filters; without it everything is there, too."""

from __future__ import annotations

import re
import struct
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.report.analysis_sections import run_all
from freezeframe.gui.report.html import page
from freezeframe.gui.report.style import script_text
from freezeframe.gui.report.write import render_report
from tests.gui.browser import dump_dom, print_pdf, screenshot
from tests.gui.made_capture import made_capture, made_explanation

HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror=alert(1)>'

# Runs after the report's script, in a copy of the page made for the test whose policy lets it in.
PROBE = """
const said = [];
const say = (name, value) => said.push(name + "=" + value);
const wide = [...document.querySelectorAll(".scroll")].filter((b) => b.scrollWidth > b.clientWidth);
const chosen = wide.flatMap((b) => [...b.querySelectorAll("line.finding:not([display]), text.broken")].slice(0, 1));
const unseen = (mark) => {
  const at = mark.getBoundingClientRect(), box = mark.closest(".scroll").getBoundingClientRect();
  return at.right < box.left + box.width / 4 || at.left > box.right;
};
say("page", document.documentElement.scrollWidth); say("window", innerWidth);
say("chosen", chosen.length); say("unseen", chosen.filter(unseen).length);
const figures = [...document.querySelectorAll("figure")].filter((f) => f.querySelector(".tools"));
const near = figures[0], whole = figures[1];
const button = (figure, text) => [...figure.querySelectorAll("button")].find((b) => b.textContent === text);
const range = (figure) => figure.querySelector("[role=status]").textContent;
const bars = (figure) => figure.querySelectorAll("g.moving rect").length;
say("range", range(whole)); say("bars", bars(whole));
const seen = (figure, what) => [...figure.querySelectorAll("g.moving " + what)].filter((n) => n.checkVisibility());
const places = (figure) => [
  ...seen(figure, "rect[data-t]").map((n) => [n.getAttribute("class"), n.getAttribute("x"), n.getAttribute("width")]),
  ...seen(figure, "text[data-t]").map((n) => [n.lastChild.textContent, n.getAttribute("x"), 0]),
  ...seen(figure, "g.ticks text").map((n) => [n.textContent, n.getAttribute("x"), 0]),
].map(([name, x, wide]) => name + " " + Number(x).toFixed(1) + " " + Number(wide).toFixed(1)).sort().join("|");
say("written", places(near));
const labels = () => seen(near, "text.marklabel")
  .map((n) => n.textContent + " " + Number(n.getAttribute("x")).toFixed(1)).join("|");
say("labels", labels());
button(near, "Same range everywhere").click();
say("moved", places(whole));
button(near, "+").click(); button(near, "Reset").click();
say("labels-again", labels());
button(whole, "Reset").click();
button(whole, "+").click(); button(whole, "+").click();
say("zoomed", range(whole));
const svg = whole.querySelector("svg.drawing");
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
say("panned", range(whole));
button(whole, "Same range everywhere").click();
say("near", range(near));
svg.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
say("home", range(whole)); say("bars-again", bars(whole));
const captioned = [...document.querySelectorAll("table")].filter((t) => t.caption);
const table = captioned.find((t) => t.caption.textContent.startsWith("In the order"));
const column = (n) => [...table.tBodies[0].rows].filter((r) => !r.hidden).map((r) => r.cells[n].textContent);
const heads = [...table.tHead.rows[0].cells].map((h) => h.textContent);
const lasts = heads.indexOf("lasts");
table.tHead.rows[0].cells[lasts].querySelector("button").click();
say("sorted", column(lasts).join("|"));
const input = table.closest(".scroll").previousElementSibling.querySelector("input");
input.value = "bad payload"; input.dispatchEvent(new Event("input"));
say("filtered", column(heads.indexOf("checks")).join("|"));
const fields = [...document.querySelectorAll("input[type=search]")];
const aside = (field) => {
  const of = field.closest(".tools").parentElement.querySelector("table").getBoundingClientRect();
  const at = field.getBoundingClientRect();
  return Math.abs(at.left - of.left) > 2 || at.bottom > of.top;
};
say("fields-beside", fields.filter((f) => f.closest(".beside")).length);
say("fields-aside", fields.filter((f) => f.checkVisibility() && aside(f)).length);
const box = near.querySelector(".scroll");
box.style.width = "420px"; box.scrollLeft = 250; box.dispatchEvent(new Event("scroll"));
const lane = near.querySelector("g.names text.label").getBoundingClientRect();
say("scrolled", box.scrollLeft);
say("name", lane.left - box.getBoundingClientRect().left); say("name-wide", lane.width);
const way = [...document.querySelectorAll("figure")].find((f) => f.querySelector("svg .tap"));
const wayBox = way.querySelector(".scroll");
wayBox.style.width = "420px"; wayBox.scrollLeft = 300; wayBox.dispatchEvent(new Event("scroll"));
const heading = way.querySelector("text.group").getBoundingClientRect();
say("heading", heading.left - wayBox.getBoundingClientRect().left);
const tap = way.querySelector("text.strong").getBoundingClientRect();
say("tap", tap.left - wayBox.getBoundingClientRect().left);
document.body.dataset.said = said.join("\\n");
"""


class Said(HTMLParser):
    """What the probe has left, the text, and the elements."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, str] = {}
        self.title = ""
        self.tags: list[str] = []
        self.text = ""
        self._skip = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._skip = tag if tag in ("script", "style", "title") else ""
        lines = dict(attrs).get("data-said") or ""
        self.said |= dict(line.split("=", 1) for line in lines.split("\n") if line)

    def handle_endtag(self, tag: str) -> None:
        self._skip = ""

    def handle_data(self, data: str) -> None:
        if self._skip == "title":
            self.title += data
        elif not self._skip:
            self.text += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``r.html``, and ``probed.html``: the same with the probe behind its script."""
    folder = tmp_path_factory.mktemp("browser")
    capture = made_capture(folder / "made.ff")
    explanation = made_explanation(capture)
    html = render_report(
        capture, explanation, run_all(CaptureView(capture, trace=explanation.trace))
    )
    (folder / "r.html").write_text(html)
    probed = page("t", "", script=script_text() + PROBE)
    policy, script = (
        re.search(r'content="(default-src [^"]*)"', probed),
        re.search(r"<script>.*?</script>", probed, re.S),
    )
    assert policy
    assert script
    html = re.sub(r'content="default-src [^"]*"', f'content="{policy[1]}"', html)
    html = re.sub(r"<script>.*?</script>", lambda _: script[0], html, flags=re.S)
    (folder / "probed.html").write_text(html)
    return folder


def parsed(document: str) -> Said:
    said = Said()
    said.feed(document)
    return said


def test_drawings_zoom_pan_and_go_back_and_tables_sort_and_filter(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home")).said
    assert said["range"] == said["home"]
    assert said["bars"] == said["bars-again"] != "0"
    assert len({said["range"], said["zoomed"], said["panned"]}) == 3
    assert said["near"] == said["panned"]
    assert said["labels"] == said["labels-again"] and "word-omitted" in said["labels"]
    lasts = [float(text.split()[0]) for text in said["sorted"].split("|")]
    assert {text.split()[1] for text in said["sorted"].split("|")} == {"ns"}
    assert lasts == sorted(lasts)
    assert len(set(lasts)) > 1
    assert set(said["filtered"].split("|")) == {"bad payload CRC, length"}


def test_marks_that_were_moved_stand_where_the_report_writes_them_for_that_range(
    made: Path,
) -> None:
    """The two drawings hold the same lanes: one is written for the range, the other is moved there by the script."""
    said = parsed(dump_dom(made / "probed.html", made / "home")).said
    written, moved = (said[name].split("|") for name in ("written", "moved"))
    assert len(written) > 20
    apart = [
        (a, b)
        for a, b in zip(written, moved, strict=True)
        if a.rsplit(" ", 2)[0] != b.rsplit(" ", 2)[0]
        or any(
            abs(float(x) - float(y)) > 0.11
            for x, y in zip(a.split()[-2:], b.split()[-2:], strict=True)
        )
    ]
    assert apart == []


def test_names_of_lanes_stay_in_sight_where_a_narrow_page_scrolls_the_drawing(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home")).said
    assert said["scrolled"] == "250"
    assert 0 <= float(said["name"]) < 200 and float(said["name-wide"]) > 10


def test_the_heading_of_the_way_stays_in_sight_and_its_taps_scroll(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home")).said
    assert 0 <= float(said["heading"]) < 20
    assert float(said["tap"]) < 0


def test_a_narrow_page_begins_with_the_finding_in_sight_in_every_drawing(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home", "--window-size=500,900")).said
    assert int(said["chosen"]) >= 4  # the way through the cards, the ladder, both time lines
    assert said["unseen"] == "0"


def test_a_narrow_page_scrolls_its_wide_boxes_and_never_the_page(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home", "--window-size=500,900")).said
    assert said["window"] == "500"
    assert int(said["page"]) <= 500


def test_the_field_that_filters_a_table_stands_above_it(made: Path) -> None:
    said = parsed(dump_dom(made / "probed.html", made / "home")).said
    assert int(said["fields-beside"]) >= 1  # tables beside each other are where it went wrong
    assert said["fields-aside"] == "0"


def test_what_the_script_draws_first_is_what_stood_there_without_it(made: Path) -> None:
    """The script changes no drawing until a reader asks: the pixels of both are the same."""
    html = (made / "r.html").read_text()
    still = made / "still.html"
    still.write_text(re.sub(r"<script>.*?</script>", "", html, flags=re.S))
    with_script = dump_dom(made / "r.html", made / "home")
    without = dump_dom(still, made / "home")
    pictures = re.compile(r'<g class="moving">.*?</g>', re.S)
    assert pictures.findall(with_script) == pictures.findall(without) != []
    assert 'data-enhanced="' in with_script
    assert 'data-enhanced="' not in without


def test_without_scripts_every_word_of_the_report_is_there(made: Path) -> None:
    """The policy of a copy forbids all scripts, as a reader's settings may."""
    html = (made / "r.html").read_text()
    barred = made / "barred.html"
    barred.write_text(re.sub(r"; script-src 'sha256-[^']*'", "", html))
    document = dump_dom(barred, made / "home")
    assert 'data-enhanced="' not in document
    asked, shown = parsed(html).text, parsed(document).text
    assert asked.split() == shown.split()
    assert "word-omitted: a 64-bit word was lost" in shown


def test_markup_in_names_runs_nothing_even_as_data_of_the_script(tmp_path: Path) -> None:
    capture = made_capture(tmp_path / "made.ff")
    row = Row("words", HOSTILE, HOSTILE, 1, 2, slot=3)
    finding = Finding(HOSTILE, HOSTILE, HOSTILE, t_ps=5, evidence=(Evidence(HOSTILE, rows=(row,)),))
    explanation = Explanation([finding], [HOSTILE], made_explanation(capture).trace)
    (tmp_path / "r.html").write_text(render_report(capture, explanation))
    document = parsed(dump_dom(tmp_path / "r.html", tmp_path / "home"))
    assert document.title.startswith("</script><script>")
    assert "img" not in document.tags
    assert HOSTILE in document.text


@pytest.mark.parametrize("width", [1400, 500])
def test_the_page_is_as_wide_as_the_window_and_not_empty(
    made: Path, tmp_path: Path, width: int
) -> None:
    screenshot(made / "r.html", made / "home", tmp_path / "s.png", width, 900)
    seen_width, rows = picture(tmp_path / "s.png")
    assert seen_width == width
    assert rows > 50


def test_it_prints(made: Path, tmp_path: Path) -> None:
    print_pdf(made / "r.html", made / "home", tmp_path / "r.pdf")
    data = (tmp_path / "r.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
    assert 2 <= pages <= 12


def picture(path: Path) -> tuple[int, int]:
    """Return width and number of different rows of a PNG of 8 bits a channel, not interlaced (PNG 1.2, 4.1, 6)."""
    data = path.read_bytes()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert (depth, data[28]) == (8, 0)
    channels = {2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(packed)
    stride = width * channels + 1
    assert len(raw) == stride * height
    rows = {raw[y * stride + 1 : (y + 1) * stride] for y in range(height)}
    return width, len(rows)
