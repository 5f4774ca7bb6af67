"""The report: one file that needs nothing, in which nothing out of a capture becomes markup."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pandas as pd
import pytest

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.content import Gap
from freezeframe.gui.plots.trace_lanes import time_range
from freezeframe.gui.report.advice import next_steps
from freezeframe.gui.report.html import element, join, page, table
from freezeframe.gui.report.style import script_text
from freezeframe.gui.report.write import render_report, report
from tests.gui.cli import refusal
from tests.gui.made_capture import BAD_PACKET, BAD_WORD, PACKETS, made_capture, made_explanation

HOSTILE = '<script>alert("x")</script> & \'"><img src=http://evil.example/x>'
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Reader(HTMLParser):
    """Collects elements, their attributes and the text, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> CaptureFolder:
    return made_capture(tmp_path_factory.mktemp("made") / "made.ff")


@pytest.fixture(scope="module")
def html(capture: CaptureFolder) -> str:
    return render_report(capture, made_explanation(capture))


def test_the_report_loads_nothing_and_runs_only_its_own_script(html: str) -> None:
    reader = read(html)
    names = {tag for tag, _ in reader.elements}
    assert names.isdisjoint({"link", "img", "iframe", "object", "embed", "base", "form"})
    for _, attributes in reader.elements:
        assert {"src", "action", "srcset", "data", "xlink:href"}.isdisjoint(attributes)
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    assert "url(" not in html.replace("url(#", "")  # a pattern of the page itself
    assert "@import" not in html
    # The name of the SVG namespace is not fetched; nothing else may look like an address.
    outside = html.replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"https?://", outside) == []
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.S)
    assert script == script_text()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = [a["content"] for t, a in reader.elements if a.get("http-equiv")]
    assert policy == [
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    ]


def test_links_lead_to_parts_that_are_there(html: str) -> None:
    elements = read(html).elements
    ids = {attributes["id"] for _, attributes in elements if "id" in attributes}
    links = [attributes["href"] for tag, attributes in elements if tag == "a"]
    assert links
    assert {str(link).removeprefix("#") for link in links} <= ids


def test_every_mark_says_its_time_so_that_the_script_has_only_to_move_it(html: str) -> None:
    near, whole = re.findall(r'<g class="moving" data-x.*?</svg>', html, re.S)
    ranges = [re.search(r'data-shown="(.*?)" data-all="(.*?)"', one) for one in (near, whole)]
    assert ranges[0] and ranges[1]
    assert ranges[0][2] == ranges[1][2] == ranges[1][1] != ranges[0][1]
    bars = [re.findall(r'<rect [^>]*data-t="([0-9 ]+)" data-least', one) for one in (near, whole)]
    assert sorted(bars[0]) == sorted(bars[1])
    assert len(bars[1]) == PACKETS * 4 + 1  # and one wait
    assert 'display="none"' in near and "marklabel finding" in near


def test_a_script_that_would_end_early_is_refused() -> None:
    with pytest.raises(ValueError, match="HTML would end it"):
        page("t", "", script="let x = '</SCRIPT>';")


def test_the_headline_says_what_where_and_when(html: str) -> None:
    reader = read(html)
    text = " ".join(reader.text.split())
    assert "word-omitted: a 64-bit word was lost in A's outgoing FIFO" in text
    for fact in (
        "Where A.tx_deq",
        "Direction A → B",
        f"Packet {BAD_PACKET}",
        f"Word {BAD_WORD}",
        "Confidence 0.97",
    ):
        assert fact.replace(" ", "") in text.replace(" ", "")
    assert "Frozen bypay-crcat B" in text


def test_the_evidence_stands_side_by_side_and_the_missing_word_is_marked(html: str) -> None:
    rows = re.findall(r"<tr class=\"bad\">.*?</tr>", html, re.S)
    missing = [row for row in rows if "not at A.tx_deq" in row]
    assert len(missing) == 1
    assert f"payload word {BAD_WORD}" in missing[0]
    assert ">—<" in missing[0]


def test_differing_hex_digits_are_marked_one_by_one(capture: CaptureFolder) -> None:
    row = Row("words", "B.rx_enq", "payload word 1", value=0x1234, expected=0x1834, t_ps=5)
    finding = Finding(
        "payload-bit-flip", "One bit.", "B", "rx_enq", evidence=(Evidence("Differs.", rows=(row,)),)
    )
    trace = made_explanation(capture).trace
    html = render_report(capture, Explanation([finding], [], trace))
    assert "0x0000000000001<mark>2</mark>34" in html
    assert "bits 9, 11 differ" in html


def test_the_time_line_has_a_title_a_description_and_a_lane_for_every_tap(html: str) -> None:
    drawings = re.findall(r'<svg class="drawing" xmlns.*?</svg>', html, re.S)
    assert len(drawings) == 4  # way and ladder of the finding, then near and whole
    svg = ET.fromstring(drawings[-1])
    space = "{http://www.w3.org/2000/svg}"
    ids = svg.attrib["aria-labelledby"].split()
    assert [svg.find(f"{space}title").attrib["id"], svg.find(f"{space}desc").attrib["id"]] == ids  # type: ignore[union-attr]
    labels = [list(t.itertext())[-1] for t in svg.iter(f"{space}text")]
    for lane in (
        "A.tx_enq packets",
        "A.tx_deq packets",
        "B.rx_enq packets",
        "B.rx_deq packets",
        "A blocked",
        "B blocked",
    ):
        assert lane in labels
    assert "B.tx_enq packets" not in labels  # nothing was sent that way
    assert {"pay-crc at B", "word-omitted"} <= set(labels)


def test_a_packet_with_a_bad_crc_is_told_by_more_than_its_colour(html: str) -> None:
    tips = re.findall(r'class="error"><title>(.*?)</title>', html, re.S)
    assert len(tips) == 9  # tx_deq, rx_enq, rx_deq, in the ladder and both time lines
    assert all("bad payload CRC, length" in tip for tip in tips)
    assert html.count("bad payload CRC, length</td>") == 3


def test_every_element_id_is_there_once(html: str) -> None:
    ids = [a["id"] for _, a in read(html).elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_every_table_has_column_headers_with_a_scope(html: str) -> None:
    tables = re.findall(r"<table>.*?</table>", html, re.S)
    assert len(tables) >= 6
    for text in tables:
        heads = re.findall(r"<th[ >][^>]*>?", text)
        assert heads
        assert all('scope="col"' in head for head in heads)


def test_the_integrity_section_lists_every_file_with_its_hash(
    capture: CaptureFolder, html: str
) -> None:
    for name, entry in capture.manifest["raw"].items():
        assert name in html
        assert entry["sha256"] in html
    assert capture.manifest["digest"] in html
    assert "Nothing was lost" in html


def test_what_a_reader_must_know_stands_at_the_top(html: str) -> None:
    assert html.index("The event log of A begins 3 us after its taps.") < html.index("Evidence")


def test_the_commands_that_give_the_answer_again_are_there(html: str) -> None:
    assert "freezeframe explain made.ff" in html
    assert "freezeframe pull etherbone:" in html.replace("//192.0.2.7:1234", "")


def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "<b onload=x>&'.ff", source=f"etherbone://{HOSTILE}")
    row = Row("words", HOSTILE, HOSTILE, 1, 2, slot=3)
    finding = Finding(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        HOSTILE,
        evidence=(Evidence(HOSTILE, HOSTILE, HOSTILE, (row,)),),
    )
    explanation = Explanation([finding, finding], [HOSTILE], made_explanation(folder).trace)
    reader = read(render_report(folder, explanation))
    assert {tag for tag, _ in reader.elements}.isdisjoint({"img", "b"})
    scripts = [attributes.get("type") for tag, attributes in reader.elements if tag == "script"]
    assert scripts == [None]
    assert HOSTILE in reader.text
    assert not [a for _, a in reader.elements if any(name.startswith("on") for name in a)]


def test_a_clean_capture_says_so(capture: CaptureFolder) -> None:
    explanation = made_explanation(capture)
    text = read(render_report(capture, Explanation([], [], explanation.trace))).text
    assert "No fault found" in text
    assert "Evidence" not in text


def test_an_undetermined_finding_names_its_candidates(capture: CaptureFolder) -> None:
    finding = Finding(
        "undetermined",
        "Either fits.",
        "B",
        evidence=(Evidence("Seen."),),
        candidates=("word-omitted", "header-corrupted"),
    )
    trace = made_explanation(capture).trace
    text = read(render_report(capture, Explanation([finding], [], trace))).text
    assert "word-omitted, header-corrupted" in text
    assert "the recording does not decide" in text


def test_the_same_capture_gives_the_same_bytes(capture: CaptureFolder, html: str) -> None:
    assert render_report(capture, made_explanation(capture)) == html


def test_a_report_is_not_replaced_unless_told(capture: CaptureFolder, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("mine")
    with pytest.raises(InputError, match=r"r\.html: exists already; --force replaces it"):
        report(capture, path, analyses=False)
    assert path.read_text() == "mine"
    report(capture, path, analyses=False, overwrite=True)
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert [entry.name for entry in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize(
    ("place", "says"), [("missing/r.html", "there is no such folder"), (".", "is a folder")]
)
def test_a_report_has_no_place_there(
    capture: CaptureFolder, tmp_path: Path, place: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        report(capture, tmp_path / place, analyses=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_file_is_not_replaced_even_when_told(
    capture: CaptureFolder, tmp_path: Path
) -> None:
    """A renamed file would take the place of /dev/null, for every program."""
    for verb, name in (("report", "r.html"), ("plot", "p.png")):
        os.mkfifo(place := tmp_path / name)
        said = refusal(verb, str(capture.path), "-o", str(place), "--force")
        assert f"{name}: is there and is not a file, so it is not replaced" in said
        assert place.is_fifo()


def test_a_full_disk_leaves_nothing_behind_and_is_bad_input(
    capture: CaptureFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = refusal("report", str(capture.path), "--no-analyses", "-o", str(tmp_path / "r.html"))
    assert "the disk is full" in said
    assert list(tmp_path.iterdir()) == []


def test_text_is_escaped_and_html_is_not() -> None:
    assert element("p", "a < b", element("em", "c & d")) == "<p>a &lt; b<em>c &amp; d</em></p>"
    assert join("<", element("br")) == "&lt;<br></br>"
    assert element("td", "x", css='"><script>') == '<td class="&quot;&gt;&lt;script&gt;">x</td>'


def test_a_table_marks_its_bad_rows_and_right_aligns_numbers() -> None:
    text = table("t", ("a", "b"), [("1", "2"), ("3", "4")], numbers=(1,), bad_rows=(1,))
    assert '<tr><td>1</td><td class="n">2</td></tr>' in text
    assert '<tr class="bad"><td>3</td><td class="n">4</td></tr>' in text


def undetermined() -> Finding:
    return Finding("undetermined", "Either fits.", "B", evidence=(Evidence("Seen."),))


def test_advice_first_names_what_can_still_be_had_of_this_freeze(capture: CaptureFolder) -> None:
    general = next_steps(undetermined())
    assert next_steps(undetermined(), capture) == general
    gap = replace(capture.devices[0].memories["rx_enq"], gaps=[Gap(508, 4, "timeout")])
    holes = {**capture.devices[0].memories, "rx_enq": gap}
    first = replace(capture.devices[0], memories=holes)
    part = SimpleNamespace(
        devices=[first, capture.devices[1]], manifest=capture.manifest, path=capture.path
    )
    again, *rest = next_steps(undetermined(), cast("CaptureFolder", part))
    assert again.endswith("freezeframe pull etherbone://192.0.2.7:1234 -o NAME.ff")
    assert tuple(rest) == general
    alone = SimpleNamespace(
        devices=[capture.devices[0]], manifest=capture.manifest, path=capture.path
    )
    both, *rest = next_steps(undetermined(), cast("CaptureFolder", alone))
    assert both.startswith("Pull both ends of the link")
    assert tuple(rest) == general


def test_the_time_line_ends_with_the_data_and_not_with_a_late_time_mark(
    capture: CaptureFolder,
) -> None:
    trace = made_explanation(capture).trace
    _, end_ps = time_range(trace)
    late = trace.events.iloc[[-1]].assign(kind="TIME", t_ps=end_ps + 10**9)
    longer = replace(trace, events=pd.concat([trace.events, late]))
    assert time_range(longer)[1] == end_ps
    only = replace(longer, words=trace.words[:0], packets=trace.packets[:0], events=late)
    assert time_range(replace(only, intervals=trace.intervals[:0]))[1] >= end_ps + 10**9


def test_commands_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "it's; rm.ff")
    text = read(render_report(folder, made_explanation(folder))).text
    word = shlex.quote("it's; rm.ff")
    assert f"freezeframe explain {word} " in text
    assert f"-o {word}" in text
