"""The palette: every text and mark can be read on its ground, and every role told from every other by every eye.

Dichromats by Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency"
(2009), severity 1.0; distances in OKLab (B. Ottosson, 2020) times 100: about 2 can just be seen side by side.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from freezeframe.gui.palette import (
    CLASSES,
    DARK,
    LIGHT,
    PAPER,
    ROLES,
    WRITTEN,
    Theme,
    contrast,
    hexadecimal,
    mixed,
)
from freezeframe.gui.plots.style import drawing_style, variables

_ALL = pytest.mark.parametrize("theme", [DARK, LIGHT, PAPER], ids=["dark", "light", "paper"])
_SEEN = {
    "usual": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def _oklab(colour: int, eye: str) -> Any:
    channels = np.array([(colour >> s & 255) / 255 for s in (16, 8, 0)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    ) @ np.clip(_SEEN[eye] @ linear, 0, 1)
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return 100 * (lab @ np.cbrt(cones))


def test_distances_are_those_that_ottosson_gives_for_white_and_for_red() -> None:
    assert np.allclose(_oklab(0xFFFFFF, "usual"), [100, 0, 0], atol=0.01)
    assert np.allclose(_oklab(0xFF0000, "usual"), [62.796, 22.486, 12.585], atol=0.01)


@pytest.mark.parametrize("eye", _SEEN)
@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=["dark", "light"])
def test_every_role_looks_unlike_every_other_to_every_eye(theme: Theme, eye: str) -> None:
    """7 where one is an error, 6 between two classes, 4 between others: those differ by shape, too."""
    close = {}
    for one, other in combinations(ROLES, 2):
        far = float(np.linalg.norm(_oklab(theme.role(one), eye) - _oklab(theme.role(other), eye)))
        least = 7 if "error" in (one, other) else 6 if {one, other} <= set(CLASSES) else 4
        if far < least:
            close[one, other] = far
    assert close == {}


@_ALL
def test_every_mark_has_3_to_1_and_every_text_4_5_to_1_on_every_ground(theme: Theme) -> None:
    for ground in (theme.background, theme.stripe, theme.gutter):
        assert contrast(theme.text, ground) >= 7 and contrast(theme.dim, ground) >= 4.5
        for role in ROLES:
            least = 4.5 if role in WRITTEN else 3
            assert contrast(theme.role(role), ground) >= least, (role, hexadecimal(ground))
        for mark in (theme.cursor, theme.selection, theme.hit):
            assert contrast(mark, ground) >= 3
    for ground in (theme.background, theme.stripe):
        assert contrast(theme.hatch, ground) >= 3
    for role in ROLES:
        assert contrast(theme.on(theme.role(role)), theme.role(role)) >= 4.5, role
    assert contrast(theme.on(theme.chosen), theme.chosen) >= 4.5


@_ALL
def test_what_a_style_sheet_writes_on_a_colour_can_be_read(theme: Theme) -> None:
    colours = {name: int(value[1:], 16) for name, value in theme.css().items()}
    for role in ROLES:
        assert contrast(colours[f"on-{role}"], colours[role]) >= 4.5, role
    assert contrast(colours["error"], colours["error-soft"]) >= 4.5
    assert contrast(colours["text"], colours["error-soft"]) >= 4.5


def test_a_mixture_lies_between_two_colours_and_black_on_white_is_21_to_1() -> None:
    assert mixed(0x000000, 0xFF8000, 0.5) == 0x804000
    assert contrast(0x000000, 0xFFFFFF) == pytest.approx(21)


@_ALL
def test_the_style_sheet_of_drawings_names_no_colour_that_the_palette_lacks(theme: Theme) -> None:
    assert "var(--" in drawing_style()
    assert "var(--" not in drawing_style(theme)  # KeyError for a name that there is not
    assert f"--error: {hexadecimal(theme.role('error'))};" in variables(theme)
