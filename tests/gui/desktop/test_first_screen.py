"""What is seen without a click: the first finding chosen, framed and told; the recording's reach above it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QFontMetricsF
from PyQt6.QtWidgets import QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.evidence import framed, subject_of
from freezeframe.gui.desktop.legend import Legend
from freezeframe.gui.desktop.timeline.overlay import RULER_PX
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.palette import CLASSES, THEMES, Theme, contrast
from freezeframe.gui.tracks.said import Meaning, legend_of
from tests.gui.cli import run_inside
from tests.gui.desktop.captures import emulated
from tests.gui.desktop.conftest import Show, settle, wait_loaded
from tests.gui.desktop.first_screens import FAULTS


@pytest.mark.parametrize("fault", FAULTS)
def test_the_first_finding_is_chosen_framed_and_told_without_a_click(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, fault: str
) -> None:
    key = wait_loaded(qtbot, window, emulated(tmp_path / "x.ff", fault))
    settle(qtbot, window)
    opened = window.workspace.sources[key]
    finding = opened.findings[0]
    assert window.findings.list.currentRow() == 0
    assert window.findings.text.toPlainText().startswith(f"{finding.diagnosis}, ")
    assert window.inspector.title.text() != "Nothing is chosen."
    assert window.inspector.tree.topLevelItemCount() > 0
    assert 2 <= len(window.story.steps) <= 9 and window.story.isVisible()
    frames = {name: table.frame for name, table in opened.tables.items()}
    subject = subject_of(finding, frames)
    assert subject is not None
    table, row = subject
    begin, end = (int(frames[table][at].iloc[row]) for at in ("t_ps", "t_end_ps"))
    t0, t1 = window.timeline.range()
    assert t0 <= begin < end <= t1
    assert (end - begin) * window.timeline.area_width() >= 24 * (t1 - t0)
    marked = [name for name, times in window.timeline.hit_times.items() if begin in times]
    view = window.timeline
    seen = [name for name in marked if name not in view.arranged.hidden]
    assert any(RULER_PX < view.row_center(name) < view.height() for name in seen)
    assert len(view.hit_times.get(view.focus_track() or "", ())) > 0, (
        "the keys act on a track of the finding"
    )


def test_what_the_user_looks_at_is_not_taken_away(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    window.open(str(fault_capture))
    qtbot.waitUntil(lambda: bool(window.timeline.tracks()), timeout=60_000)
    window.timeline.set_range(1_000_000, 2_000_000)
    settle(qtbot, window)
    assert window.timeline.range() == (1_000_000, 2_000_000)


def test_a_stretch_is_cut_until_its_subject_is_wide_enough_and_no_further() -> None:
    assert framed((0, 1_000), (400, 500), 320, 32) == (0, 1_000)
    assert framed((0, 100_000), (400, 500), 320, 32) == (0, 1_000)
    assert framed((0, 100_000), (50_000, 50_100), 320, 32) == (49_550, 50_550)


def test_the_time_of_a_finding_is_in_view_with_its_subject_where_that_is_still_24_pixels_wide() -> (
    None
):
    far = (0, 1_000_000)
    assert framed(far, (500_000, 500_100), 960, moment_ps=500_050) == (499_050, 501_050)
    assert framed(far, (500_000, 500_100), 960, moment_ps=498_500) == (498_400, 500_400)
    assert framed(far, (500_000, 500_100), 960, moment_ps=501_700) == (499_800, 501_800)
    # half as wide: 4,000 fit, and the time 3,000 before
    assert framed(far, (500_000, 500_100), 960, moment_ps=497_000) == (496_800, 500_800)
    # too far even for that: the subject alone, as wide as usual
    assert framed(far, (500_000, 500_100), 960, moment_ps=400_000) == (499_050, 501_050)


@pytest.mark.parametrize("fault", ["credit-too-optimistic", "word-omitted", "header-corrupted"])
def test_the_sentence_and_the_time_of_a_finding_are_seen_without_scrolling_on_a_small_screen(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, fault: str
) -> None:
    window.resize(1280, 720)
    wait_loaded(qtbot, window, emulated(tmp_path / "x.ff", fault))
    settle(qtbot, window)
    bar = window.findings.text.verticalScrollBar()
    assert bar is not None and window.findings.list.count() == 1
    qtbot.waitUntil(lambda: bar.maximum() == 0)
    at_ps = window.workspace.sources["1"].findings[0].t_ps
    assert at_ps is not None
    t0, t1 = window.timeline.range()
    assert t0 < at_ps < t1  # the flag of the finding stands beside what it is about


def test_the_sentences_of_the_evidence_are_broken_into_lines_and_none_is_cut(show: Show) -> None:
    window = show(size=(1280, 720))
    key = "1"
    tree = window.findings.evidence
    view = tree.viewport()
    assert view is not None
    said = [one.text for one in window.workspace.sources[key].findings[0].evidence]
    assert tree.topLevelItemCount() == len(said)
    for number, sentence in enumerate(said):
        shown = tree.topLevelItem(number)
        assert shown is not None
        lines = shown.text(0).split("\n")
        assert " ".join(lines) == sentence
        wide = max(tree.fontMetrics().horizontalAdvance(line) for line in lines)
        assert tree.indentation() + wide <= view.width()
        assert tree.visualItemRect(shown).height() >= len(lines) * tree.fontMetrics().height()


def test_the_strip_above_shows_the_reach_of_every_memory_and_where_the_view_is(
    opened: MainWindow,
) -> None:
    key = "1"
    strip = opened.overview
    assert strip.isVisible()
    trace = opened.workspace.sources[key].trace
    assert trace is not None
    names = list(trace.coverage.memories)
    assert "wrapped" in strip.tip(names.index("A.tx_enq"))
    middle = 100_000_000
    strip.asked.emit(middle)
    t0, t1 = opened.timeline.range()
    assert t0 <= middle < t1


def test_every_error_of_an_open_stays_until_it_is_dismissed(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    for name in ("one.sr", "two.sr"):
        (tmp_path / name).write_text("garbage")
        window.open(str(tmp_path / name))
    qtbot.waitUntil(lambda: not window.workspace.opening, timeout=60_000)
    assert "one.sr" in window.trouble.text() and "two.sr" in window.trouble.text()
    window.say_trouble("")
    assert window.trouble.text() == ""


def test_a_capture_in_one_file_opens_as_its_folder_does(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "fault.ff.zip"
    assert run_inside("bundle", str(fault_capture), "-o", str(packed)).code == 0
    key = wait_loaded(qtbot, window, packed)
    opened = window.workspace.sources[key]
    assert (opened.kind, opened.findings[0].packet, opened.findings[0].word) == ("capture", 69, 3)
    assert window.workspace.books[key].path == tmp_path / "fault.ff.zip.notes.json"


def test_the_steps_of_the_story_move_the_view_and_choose_their_rows(opened: MainWindow) -> None:
    story = opened.story
    seen = set()
    for number, step in enumerate(story.steps):
        story.step(1)
        assert story.at == number and story.text_of(number).startswith(step.text)
        assert step.span_ps is not None
        t0, t1 = opened.timeline.range()
        assert t0 <= step.span_ps[0] < step.span_ps[1] <= t1
        seen.add((t0, t1))
        if step.place is not None:
            selection = opened.timeline.selection()
            assert selection is not None
            place = opened.choosing.place_of(selection)
            assert place is not None and (place.table, place.row) == step.place
    assert len(seen) > 2
    story.step(1)  # there is none behind the last
    assert story.at == len(story.steps) - 1
    story.step(-1)
    assert story.at == len(story.steps) - 2


def test_a_step_without_a_row_sets_a_cursor_to_its_time_and_lets_the_row_before_go(
    opened: MainWindow,
) -> None:
    story, last = opened.story, len(opened.story.steps) - 1
    froze = story.steps[last]
    assert (froze.text, froze.place) == ("B froze: pay-crc, length", None)
    assert froze.span_ps is not None
    opened.timeline.add_cursor(1_000_000, "mine")
    story.go(last - 1)
    assert opened.timeline.selection() is not None and opened.table.current_row() is not None
    story.go(last)
    marks = {cursor.name: cursor.t_ps for cursor in opened.timeline.cursors.all()}
    assert marks == {"mine": 1_000_000, f"step {last + 1}": froze.span_ps[0]}
    read = opened.timeline.cursors.active  # values beside the tracks are of then
    assert read is not None and read.t_ps == froze.span_ps[0]
    assert opened.timeline.selection() is None and opened.table.current_row() is None
    assert opened.inspector.title.text() == "B froze: pay-crc, length (230.395 µs)"
    story.go(last)
    assert len(opened.timeline.cursors.all()) == 2
    story.go(last - 1)
    assert [cursor.name for cursor in opened.timeline.cursors.all()] == ["mine"]
    assert opened.timeline.selection() is not None


def test_the_mark_of_a_step_that_was_kept_in_a_view_is_moved_and_goes_with_its_finding(
    opened: MainWindow,
) -> None:
    key = "1"
    last = len(opened.story.steps) - 1
    opened.timeline.add_cursor(5, f"step {last + 1}")
    opened.story.go(last)
    (mark,) = opened.timeline.cursors.all()
    assert opened.story.steps[last].span_ps == (mark.t_ps, mark.t_ps + 1)
    opened.workspace.close_source(key)
    assert opened.timeline.cursors.all() == ()


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_the_button_of_the_step_that_is_shown_has_3_to_1_against_the_others(
    opened: MainWindow, theme: Theme
) -> None:
    """WCAG 2.2, success criterion 1.4.11: what tells the state of a control."""
    opened.set_theme(theme.name)
    opened.story.go(1)
    other, chosen = (filled(opened, f"step {number} of the story") for number in (1, 2))
    assert contrast(chosen, other) >= 3
    assert contrast(chosen, theme.gutter) >= 3


def filled(window: MainWindow, name: str) -> int:
    """Return the colour that most of a button has."""
    made = next(b for b in window.findChildren(QToolButton) if b.accessibleName() == name)
    image = made.grab().toImage()
    pixels = [
        image.pixel(x, y) & 0xFFFFFF for x in range(image.width()) for y in range(image.height())
    ]
    return max(set(pixels), key=pixels.count)


def test_the_story_goes_with_the_finding(opened: MainWindow) -> None:
    key = "1"
    assert opened.story.steps
    opened.workspace.close_source(key)
    assert opened.story.steps == [] and not opened.story.isVisible()


def test_no_name_of_a_panel_is_cut_on_a_small_screen(show: Show) -> None:
    window = show(size=(1280, 720))
    bars = [bar for bar in window.findChildren(QTabBar) if bar.isVisible()]
    assert sorted(bar.count() for bar in bars) == [3, 5]
    for bar in bars:
        assert bar.elideMode() == Qt.TextElideMode.ElideNone
        assert bar.tabRect(bar.count() - 1).right() < bar.width()


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_swatch_of_the_legend_means_one_thing_under_its_heading_and_no_meaning_is_cut(
    show: Show, size: tuple[int, int]
) -> None:
    window = show(size=size)
    legend = window.legend
    looks = [(look, of) for look, _, of in legend.entries if look]
    assert {"a", "hatch", "hit"} <= {look for look, _ in looks} and len(set(looks)) == len(looks)
    means = {(look, of): text for look, text, of in legend.entries}
    assert (means["b", "words"], means["b", "packets"]) == ("HEAD", "NOTIFICATION")
    assert (means["warn", "back-pressure"], means["a", "credits"]) == ("waits", "sent")
    left = len(legend.entries) - len(legend.placed)
    assert left == 0 if size[0] > 1280 else left < 6, (
        "few are told by the tip alone, and only there"
    )
    for one in legend.placed:
        assert one.text.rstrip(":") == one.meaning.text


def test_a_meaning_without_room_in_two_lines_is_counted_and_told_by_the_tip(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    legend.resize(400, 20)
    legend.set_entries([Meaning(role, f"the meaning of {role}", "packets") for role in CLASSES])
    shown = [one.meaning.text for one in legend.placed]
    assert 2 <= len(shown) < len(legend.entries) and legend.placed[-1].line == 1
    assert all(meaning.text in legend.toolTip() for meaning in legend.entries)


def test_a_code_of_an_event_has_the_same_colour_at_both_cards(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    wait_loaded(qtbot, window, emulated(tmp_path / "x.ff", "credit-lost"))
    tracks = [t for t in window.timeline.tracks() if t.name.endswith(".event_log CREDIT")]
    colours: dict[str, set[str]] = {}
    for track in tracks:
        for look, text, _ in legend_of([track]):
            colours.setdefault(text, set()).add(look)
    assert len(tracks) == 2 and colours["sent"] != colours["taken"]
    assert {len(one) for one in colours.values()} == {1}


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (2600, 1080)])
def test_the_evidence_needs_no_scrolling_sideways_and_each_time_stands_with_its_unit(
    show: Show, size: tuple[int, int]
) -> None:
    window = show(size=size)
    key = "1"
    tree = window.findings.evidence
    header, bar, view = tree.header(), tree.horizontalScrollBar(), tree.viewport()
    assert header is not None and bar is not None and view is not None
    assert bar.maximum() == 0 and header.length() <= view.width()
    finding = window.workspace.sources[key].findings[0]
    metrics = QFontMetricsF(tree.font())
    for at, evidence in enumerate(finding.evidence):
        sentence = tree.topLevelItem(at)
        for number, row in enumerate(evidence.rows):
            line = sentence.child(number) if sentence is not None else None
            assert line is not None
            assert line.text(2) == ("" if row.t_ps is None else format_ps(row.t_ps))
            for column in range(tree.columnCount()):
                widest = max(map(metrics.horizontalAdvance, line.text(column).split("\n")))
                inset = 2 * tree.indentation() if column == 0 else 0
                assert tree.isColumnHidden(column) or widest + inset < tree.columnWidth(column)
            word = "" if row.value is None else f"{row.value & (1 << 64) - 1:x}"
            assert word in "".join(line.text(column) for column in (0, 3)).replace("\n", "")


def test_a_column_of_names_is_as_wide_as_the_longest_of_them_wherever_it_stands(
    opened: MainWindow,
) -> None:
    key = "1"
    opened.table.show_table(key, "events")
    names = opened.workspace.sources[key].tables["events"].frame["kind"].unique()
    metrics = opened.table.view.fontMetrics()
    column = opened.table.model.column_names().index("kind")
    longest = max(metrics.horizontalAdvance(str(name)) for name in names)
    assert opened.table.view.columnWidth(column) > longest


def test_heights_and_scrolling_depend_on_the_size_of_the_window_and_not_on_what_it_was_before(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    wait_loaded(qtbot, window, fault_capture)
    inspected, evidence = window.inspector.tree, window.findings.evidence

    def looks(wide: int, high: int) -> list[object]:
        window.resize(wide, high)
        settle(qtbot, window)
        bars = [tree.verticalScrollBar() for tree in (inspected, evidence)]
        return [window.findings._split.sizes(), *(bar.value() for bar in bars if bar is not None)]

    first = looks(1280, 720)
    for size in ((1920, 1080), (1100, 640), (1280, 900), (1100, 720)):
        looks(*size)
    assert looks(1280, 720) == first
    text = window.findings.text.verticalScrollBar()
    assert text is not None and text.maximum() == 0
