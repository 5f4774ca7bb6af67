"""Where the device side stands: Verilog, C, generated files and the cards that ship."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.errors import InputError


def hooks_folder() -> Path:
    """Return the folder of the device side: beside this package in a checkout, inside it in an installed wheel.

    Raises:
        InputError: the installation lacks it.
    """
    above = Path(__file__).resolve().parents[1]
    for name in ("firmware-hooks", "firmware_hooks"):
        if (above / name / "rtl").is_dir():
            return above / name
    raise InputError(
        f"{above}: the Verilog sources are not there (firmware-hooks/rtl); reinstall freezeframe"
    )
