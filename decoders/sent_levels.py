"""What encoders end with: the levels of a bus, one after each equal step, as edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges


def edges_of_levels(
    levels: npt.NDArray[np.uint64],
    step_samples: int,
    channels: tuple[str, ...],
    samplerate_hz: int,
) -> Edges:
    """Return edges where the levels change; bit i of a level is channel i, each lasts ``step_samples``."""
    changed = np.concatenate(([True], levels[1:] != levels[:-1]))
    return Edges(
        np.flatnonzero(changed) * step_samples,
        levels[changed],
        channels,
        samplerate_hz,
        0,
        len(levels) * step_samples,
    )
