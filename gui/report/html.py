"""Building HTML from text: everything is escaped unless it is already HTML made here.

Source: HTML Living Standard, section 13.1 (writing documents).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["Html", "element", "join", "page", "table"]


class Html(str):
    """Text that is HTML already; only this module and the SVG writer make it."""

    __slots__ = ()


def element(name: str, *content: str, css: str = "", **attributes: str) -> Html:
    """Return an element. Content that is not Html is escaped; attributes always are."""
    pairs = {"class": css, **{key.rstrip("_"): value for key, value in attributes.items()}}
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


def page(title: str, style: str, *content: str) -> str:
    """Return a whole document that loads nothing and runs nothing.

    The policy in the head makes the browser enforce it: even if a piece of a capture were to come
    through as markup, no script would run and nothing would be fetched.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{join(*content)}\n</main>\n</body>\n</html>\n"
    )
