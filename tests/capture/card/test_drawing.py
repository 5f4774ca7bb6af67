"""A card's drawing and its page: nothing cut, nothing overlapping, whatever the card; every name and address."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from resvg_py import svg_to_bytes

from freezeframe.capture.card.build.drawing import drawing
from freezeframe.capture.card.build.page import register_page
from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import card_map
from freezeframe.capture.card.shipped import shipped_cards

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 12 * 0.602051  # DejaVu Sans Mono: 1,233 of 2,048 units an em
ASCENT, DESCENT = 12 * 0.76, 12 * 0.24  # of its capital letters with accents, and of g

HEAD = 'schema = 1\n[card]\nname = "drawn"\n[clock.bus]\nhz = 100_000_000\nregisters = true\n'
Rectangle = tuple[float, float, float, float]


def tap(name: str, more: str = "") -> str:
    return f'[tap.{name}]\nkind = "axi-stream"\nclock = "bus"\ndepth = 16\n{more}\n'


def path(name: str, taps: list[str], more: str = "") -> str:
    return f"[path.{name}]\ntaps = {taps!r}\n{more}\n".replace("'", '"')


LONG = "abcdefghijklmnopqrstuvwxyz_{:05d}"  # 32 letters, as long as a name may be
CARDS = {
    "one tap": tap("a"),
    "64 taps": "".join(tap(LONG.format(n), f"bits = {64 << n % 3}") for n in range(64))
    + path(LONG.format(0), [LONG.format(n) for n in range(60)]),
    "two paths": tap("a") + tap("b") + tap("c") + path("one", ["a", "b"]) + path("two", ["c", "b", "a"]),
    "far end": tap("a") + path("out", ["a"], 'far_end = "other:in"\ndoc = "long ' + "word " * 35 + '"'),
    "words": '[counter.lost]\nwire = "' + "w" * 64 + '"\n' + tap("a") + tap("b")
    + path("p", ["a", "b"], '[[path.p.stretch]]\ndrops = { counter = "lost", whole = false }\nreorders = true\n'
           'forwarding = "store-and-forward"\ncapacity_words = 123456789'),
}  # fmt: skip


def card_of(text: str, tmp_path: Path) -> ElaboratedCard:
    (tmp_path / "drawn.toml").write_text(HEAD + text)
    return elaborate(read_card(tmp_path / "drawn.toml"))


def placed(svg: str) -> tuple[Rectangle, list[tuple[str, Rectangle]], list[Rectangle]]:
    """Return the page, each text with the rectangle that its letters take, and the boxes."""
    root = ElementTree.fromstring(svg)
    page = tuple(float(n) for n in root.attrib["viewBox"].split())
    texts = []
    for node in root.iter(f"{SVG}text"):
        x, y, said = float(node.attrib["x"]), float(node.attrib["y"]), node.text or ""
        texts.append((said, (x, y - ASCENT, x + len(said) * LETTER, y + DESCENT)))
    boxes = []
    for node in root.iter(f"{SVG}rect"):
        if node.attrib.get("class") in ("box", "far"):
            x, y, w, h = (float(node.attrib[key]) for key in ("x", "y", "width", "height"))
            boxes.append((x, y, x + w, y + h))
    assert len(page) == 4
    return page, texts, boxes


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def inside(a: Rectangle, b: Rectangle) -> bool:
    return b[0] <= a[0] and b[1] <= a[1] and a[2] <= b[2] and a[3] <= b[3]


@pytest.mark.parametrize("name", [*CARDS, *shipped_cards()])
def test_no_label_is_cut_and_none_lies_on_another_or_on_the_edge_of_a_box(
    name: str, tmp_path: Path
) -> None:
    card = (
        card_of(CARDS[name], tmp_path)
        if name in CARDS
        else elaborate(read_card(shipped_cards()[name]))
    )
    svg = drawing(card)
    page, texts, boxes = placed(svg)
    for number, (said, rectangle) in enumerate(texts):
        assert inside(rectangle, page), said
        assert not any(overlap(rectangle, other) for _, other in texts[number + 1 :]), said
        assert all(inside(rectangle, box) for box in boxes if overlap(rectangle, box)), said
    for number, box in enumerate(boxes):
        assert inside(box, page)
        assert not any(overlap(box, other) for other in boxes[number + 1 :])
    words = {said for said, _ in texts}
    assert {tap.name for tap in card.taps} <= words
    assert bytes(svg_to_bytes(svg_string=svg)).startswith(b"\x89PNG")


def test_an_arrow_says_in_words_what_may_happen_and_a_box_what_freezes_and_counts() -> None:
    _, texts, boxes = placed(drawing(elaborate(read_card(shipped_cards()["ethernet-axis-64"]))))
    within = [[said for said, rectangle in texts if inside(rectangle, box)] for box in boxes]
    assert within[:2] == [
        ["rx_in", "64 bits, eth", "axi-stream, keep tail", "2,048 records, clock rx", "freezes: bad_fcs",
         "counts packets: rx_in_packets"],
        ["rx_out", "64 bits, eth", "axi-stream, keep tail, ready", "2,048 records, clock rx", "freezes: rx_stuck",
         "counts packets: rx_out_packets"],
    ]  # fmt: skip
    between = [said for said, at in texts if not any(inside(at, box) for box in boxes)]
    assert between[3:7] == [
        "drops whole packets,",
        "counted by rx_dropped",
        "store-and-forward",
        "holds 512 words",
    ]


def test_text_and_page_stand_apart_on_light_and_on_dark_pages() -> None:
    svg = drawing(elaborate(read_card(shipped_cards()["ethernet-axis-64"])))
    light, _, dark = svg.partition("@media (prefers-color-scheme: dark)")
    for part in (light, dark):
        fills = dict(re.findall(r"(\.?\w+) \{[^}]*fill: (#\w{6})", part))
        for kind in ("text", ".dim", ".cause", ".count"):
            for ground in (".page", ".box"):
                assert contrast(fills[kind], fills[ground]) >= 4.5, (
                    kind,
                    ground,
                )  # WCAG 2.2, 1.4.3


def contrast(a: str, b: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_what_a_card_file_says_is_text_in_the_drawing_and_in_the_page(tmp_path: Path) -> None:
    card = card_of(
        tap("a") + path("p", ["a"], 'far_end = "b:p"\ndoc = "<script>&\\u0001"'), tmp_path
    )
    assert "<script>" not in drawing(card) + register_page(card)
    assert "&lt;script&gt;&amp;\N{REPLACEMENT CHARACTER}" in drawing(card)


@pytest.mark.parametrize("name", shipped_cards())
def test_the_page_has_every_register_window_and_name_and_loads_nothing(name: str) -> None:
    card = elaborate(read_card(shipped_cards()[name]))
    page = register_page(card)
    rows = {
        tuple(re.findall(r"<td>(.*?)</td>", row))[:2] for row in re.findall(r"<tr>(.*?)</tr>", page)
    }
    registers = card_map(card, built_features(card))
    assert {(f"0x{info.address:05x}", info.name) for info in registers.registers} <= rows
    assert {(f"0x{window.address:05x}", window.name) for window in registers.windows} <= rows
    assert {(str(cause.bit), "cause") for cause in card.causes} <= rows
    assert not re.search(r"\b(?:src|href)=|url\(|@import", page)
