"""Colours by role, dark and light, that colour-blind eyes can tell apart.

The eight class colours are Paul Tol's "bright" and "muted" schemes, errors are Okabe and Ito's
vermillion; an error is never shown by colour alone (it is also higher than its row).

Source: P. Tol, "Colour Schemes", SRON/EPS/TN/09-002, issue 3.2, figures 1 and 3; M. Okabe, K. Ito,
"Color Universal Design" (2008).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType

ROLES = ("good", "error", "warn", "idle", "note", "a", "b", "c", "d", "e", "f", "g", "h")

Colour = int  # 0xRRGGBB


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, each 0xRRGGBB."""

    name: str
    background: Colour
    stripe: Colour  # behind every second track
    gutter: Colour  # behind the labels
    text: Colour
    dim: Colour  # text of less weight
    grid: Colour
    cursor: Colour
    selection: Colour
    hit: Colour
    hatch: Colour  # over what was not recorded; nothing else has this colour
    roles: MappingProxyType[str, Colour] = field(repr=False)

    def role(self, name: str) -> Colour:
        """Return the colour of a role; that of ``a`` for a name that is none."""
        return self.roles.get(name, self.roles["a"])

    def on(self, fill: Colour) -> Colour:
        """Return black or white, whichever reads better on a colour."""
        return max(0x000000, 0xFFFFFF, key=lambda ink: contrast(ink, fill))


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


DARK = Theme(
    name="dark",
    background=0x14171C,
    stripe=0x191D23,
    gutter=0x20252D,
    text=0xE8EAED,
    dim=0x9AA3AE,
    grid=0x2B313A,
    cursor=0xFFD166,
    selection=0xFFFFFF,
    hit=0xF5F07A,
    hatch=0x6F7884,
    roles=MappingProxyType(
        {
            "good": 0x3FA97C,
            "error": 0xFF6A2B,
            "warn": 0xE69F00,
            "idle": 0x59636F,
            "note": 0xD48BB8,
            "a": 0x6AA2DC,
            "b": 0x66CCEE,
            "c": 0x4DB25F,
            "d": 0xE3D98A,
            "e": 0xC9629A,
            "f": 0xB4BAC2,
            "g": 0x8F86D8,
            "h": 0x44AA99,
        }
    ),
)

LIGHT = Theme(
    name="light",
    background=0xFFFFFF,
    stripe=0xF6F7F9,
    gutter=0xECEFF3,
    text=0x16191D,
    dim=0x59626E,
    grid=0xDFE3E8,
    cursor=0x8A5A00,
    selection=0x000000,
    hit=0x7A6A00,
    hatch=0x868E98,
    roles=MappingProxyType(
        {
            "good": 0x2E8B63,
            "error": 0xC63D00,
            "warn": 0xB97A00,
            "idle": 0xA6AEB8,
            "note": 0xA8527F,
            "a": 0x3B6FAF,
            "b": 0x2E9CC4,
            "c": 0x228833,
            "d": 0xADA35F,
            "e": 0xAA3377,
            "f": 0x737B85,
            "g": 0x544AA8,
            "h": 0x2A8C7C,
        }
    ),
)

THEMES = MappingProxyType({theme.name: theme for theme in (DARK, LIGHT)})
