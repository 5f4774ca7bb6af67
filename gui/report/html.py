"""Building HTML from text: everything is escaped unless it is already HTML made here.

Source: HTML Living Standard, section 13.1 (writing documents).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TypeVar

Thing = TypeVar("Thing")


class Html(str):
    """Text that is HTML already; only this package and the SVG writer make it."""

    __slots__ = ()


def element(name: str, *content: str, css: str = "", **attributes: str) -> Html:
    """Return an element. Content that is not Html is escaped; attributes always are."""
    pairs = {
        "class": css,
        **{key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()},
    }
    given = "".join(f' {key}="{escape(value)}"' for key, value in pairs.items() if value)
    return Html(f"<{name}{given}>{join(*content)}</{name}>")


def join(*content: str) -> Html:
    """Return pieces one after the other, those that are not Html escaped."""
    return Html("".join(p if isinstance(p, Html) else escape(_visible(p)) for p in content))


def _visible(text: str) -> str:
    """Return text with control characters, which HTML does not allow, as escapes."""
    return "".join(c if c == "\n" or c.isprintable() else repr(c)[1:-1] for c in text)


def table(
    caption: str,
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: Sequence[int] = (),
    bad_rows: Sequence[int] = (),
    css: str = "",
) -> Html:
    """Return a table; ``numbers`` are the right-aligned columns, ``bad_rows`` the marked rows."""
    head = [
        element("th", text, css="n" if i in numbers else "", scope="col")
        for i, text in enumerate(headers)
    ]
    body = []
    for number, row in enumerate(rows):
        cells = [element("td", text, css="n" if i in numbers else "") for i, text in enumerate(row)]
        body.append(element("tr", *cells, css="bad" if number in bad_rows else ""))
    return element(
        "div",
        element(
            "table",
            element("caption", caption) if caption else Html(""),
            element("thead", element("tr", *head)),
            element("tbody", *body),
            css=css,
        ),
        css="scroll",
    )


def listing(
    caption: str,
    things: Sequence[Thing],
    columns: Mapping[str, Callable[[Thing], str]],
    bad: Callable[[Thing], bool] = lambda _: False,
    css: str = "",
) -> Html:
    """Return a table of things, a row each.

    Args:
        columns: by their headings, how a thing stands in them. ``#`` before a heading: numbers. A column in which
            nothing has a text is left out.
        bad: which rows are marked.
    """
    cells = {name: [cell(thing) for thing in things] for name, cell in columns.items()}
    shown = [name for name, texts in cells.items() if any(texts)]
    return table(
        caption,
        [name.lstrip("#") for name in shown],
        list(zip(*(cells[name] for name in shown), strict=True)),
        numbers=[at for at, name in enumerate(shown) if name.startswith("#")],
        bad_rows=[at for at, thing in enumerate(things) if bad(thing)],
        css=css,
    )


def page(title: str, style: str, *content: str, script: str = "") -> str:
    """Return a whole document that loads nothing, and runs nothing but ``script``.

    The policy in the head makes the browser enforce it: it names the script by its SHA-256, so even if
    a piece of a capture were to come through as markup, no other would run and nothing would be fetched.

    Raises:
        ValueError: the script holds what would end it early.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    block = ""
    if script:
        if "</script" in script.lower() or "<!--" in script:
            raise ValueError("the script holds '</script' or '<!--', where HTML would end it")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy += f"; script-src 'sha256-{digest}'"
        block = f"<script>{script}</script>\n"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{join(*content)}\n</main>\n{block}</body>\n</html>\n"
    )
