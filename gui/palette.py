"""The one palette: colours by what they mean, dark, light and on paper, for every picture and window.

The time line, the drawings of reports, notebooks and `plot`, and the window's own controls take their colours from
here. A colour is a *role*: "error", "warn", or "a" to "h" for classes and lines that must only be told apart. Every
role has 3:1 against what it stands on, the roles that texts are written in 4.5:1, and all can be told apart by eyes
without red, green or blue cones (`tests/gui/test_palette.py`). An error is never shown by colour alone.

The hues begin at Paul Tol's "bright" and "muted" schemes and Okabe and Ito's vermillion, moved as little as those
demands ask.

Source: P. Tol, "Colour Schemes", SRON/EPS/TN/09-002, issue 3.2, figures 1 and 3; M. Okabe, K. Ito, "Color Universal
Design" (2008); WCAG 2.2, success criteria 1.4.3 and 1.4.11.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

ThemeName = Literal["dark", "light"]
Colour = int  # 0xRRGGBB

CLASSES = ("a", "b", "c", "d", "e", "f", "g", "h")
"""Roles of classes and lines that mean nothing but "another one", in the order in which they are given out."""

ROLES = ("good", "error", "warn", "idle", "note", *CLASSES)
WRITTEN = ("good", "error", "note", "a")
"""Roles in which texts are written; "a" is also that of links."""


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, each 0xRRGGBB."""

    name: ThemeName
    background: Colour
    stripe: Colour  # behind every second track
    gutter: Colour  # behind labels, panels and boxes
    text: Colour
    dim: Colour  # text of less weight
    grid: Colour
    cursor: Colour
    selection: Colour
    hit: Colour
    hatch: Colour  # over what was not recorded; nothing else has this colour
    chosen: Colour  # behind the chosen row of a list
    roles: MappingProxyType[str, Colour] = field(repr=False)

    def role(self, name: str) -> Colour:
        """Return the colour of a role; that of ``a`` for a name that is none."""
        return self.roles.get(name, self.roles["a"])

    def on(self, fill: Colour) -> Colour:
        """Return black or white, whichever reads better on a colour."""
        return max(0x000000, 0xFFFFFF, key=lambda ink: contrast(ink, fill))

    def css(self) -> dict[str, str]:
        """Return all colours by name, ``#rrggbb`` each; ``on-error`` is what is written on the role ``error``."""
        plain = ("background", "gutter", "text", "dim", "grid", "hatch")
        named = {name: getattr(self, name) for name in plain} | dict(self.roles)
        named |= {f"on-{role}": self.on(colour) for role, colour in self.roles.items()}
        named["error-soft"] = mixed(self.background, self.role("error"), 0.12)
        return {name: hexadecimal(colour) for name, colour in named.items()}


def hexadecimal(colour: Colour) -> str:
    """Return a colour as style sheets write it."""
    return f"#{colour:06x}"


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """Return ``a`` with ``share`` (0..1) of ``b`` in it."""
    parts = (
        round(((a >> s) & 255) * (1 - share) + ((b >> s) & 255) * share) << s for s in (16, 8, 0)
    )
    return sum(parts)


def luminance(colour: Colour) -> float:
    """Return the relative luminance, 0 black to 1 white. Source: WCAG 2.2, relative luminance."""

    def linear(channel: int) -> float:
        c = channel / 255
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    r, g, b = ((colour >> s) & 255 for s in (16, 8, 0))
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)


def contrast(a: Colour, b: Colour) -> float:
    """Return the contrast ratio of two colours, 1..21. Source: WCAG 2.2, contrast ratio."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _roles(*colours: Colour) -> MappingProxyType[str, Colour]:
    return MappingProxyType(dict(zip(ROLES, colours, strict=True)))


DARK = Theme(
    "dark", background=0x14171C, stripe=0x191D23, gutter=0x20252D, text=0xE8EAED, dim=0x9AA3AE,
    grid=0x2B313A, cursor=0xFFD166, selection=0xFFFFFF, hit=0xF5F07A, hatch=0x6F7884, chosen=0x2F5D8A,
    roles=_roles(
        0x3EAF7E, 0xF9662B, 0xE9A300, 0x5E7471, 0xC298FC,
        0x7CA0D0, 0x64CBF0, 0x49A444, 0xE2DA8A, 0xCA619D, 0xB5B9C3, 0x8D81D9, 0x45BE95,
    ),
)  # fmt: skip
LIGHT = Theme(
    "light", background=0xFFFFFF, stripe=0xF6F7F9, gutter=0xECEFF3, text=0x16191D, dim=0x59626E,
    grid=0xDFE3E8, cursor=0x8A5A00, selection=0x000000, hit=0x7A6A00, hatch=0x868E98, chosen=0xB8D8F8,
    roles=_roles(
        0x2A785F, 0xC23801, 0xB47A00, 0x87869A, 0x8A4EB1,
        0x3968C3, 0x2990C1, 0x1F6C4D, 0xA5815B, 0xA32D7D, 0x737B87, 0x5747A8, 0x26545C,
    ),
)  # fmt: skip
PAPER = replace(LIGHT, gutter=0xFFFFFF, text=0x000000, dim=0x444444, grid=0xBBBBBB)
THEMES: MappingProxyType[str, Theme] = MappingProxyType({t.name: t for t in (DARK, LIGHT)})
