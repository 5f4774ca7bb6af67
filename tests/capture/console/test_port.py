"""A console that cannot be opened is one line that says why, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.console.port import open_console
from freezeframe.capture.errors import InputError, TargetError


def test_a_port_that_is_not_there_and_one_that_is_no_port_are_a_line_each(tmp_path: Path) -> None:
    missing = tmp_path / "ttyUSB9"
    with pytest.raises(TargetError) as raised, open_console(str(missing)):
        pass
    assert str(raised.value) == f"{missing}: cannot be opened: No such file or directory"
    with pytest.raises(TargetError, match="cannot be opened"), open_console(str(tmp_path)):
        pass
    with pytest.raises(InputError, match="'fast' is not a baud rate; write /dev/ttyUSB0@115200"):
        open_console(f"{missing}@fast").__enter__()
