"""A refusal is one line, whatever a file or an argument brings into it."""

from __future__ import annotations

import pytest

from freezeframe.capture.errors import InputError, RecorderStateError, TargetError
from freezeframe.capture.targets.base import open_target


@pytest.mark.parametrize(
    ("end", "shown"),
    [("\n", r"\n"), ("\r\n", r"\r\n"), ("\x0b", r"\x0b"), ("\x85", r"\x85"), ("\u2028", r"\u2028")],
)
def test_a_line_end_in_a_message_is_shown_and_ends_no_line(end: str, shown: str) -> None:
    error = TargetError(f"etherbone://a{end}b: no answer")
    assert str(error) == f"etherbone://a{shown}b: no answer"
    assert error.lines == (str(error),)
    assert len(str(error).splitlines()) == 1


def test_a_target_url_with_a_line_end_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"etherbone:\[::3\\r\\n1\]: write etherbone:"):
        open_target("etherbone:[::3\r\n1]")


def test_what_goes_on_all_the_same_is_an_argument_in_python_an_option_on_a_command_line_and_neither_in_a_window() -> (
    None
):
    error = RecorderStateError("emu: device A\nis frozen", option="discard")
    assert str(error) == r"emu: device A\nis frozen; or give it up: discard=True"
    assert error.lines == (r"emu: device A\nis frozen; or give it up: --discard",)
    assert error.said == r"emu: device A\nis frozen"
    plain = RecorderStateError("device A is idle")
    assert (str(plain), plain.lines, plain.said) == (
        "device A is idle",
        ("device A is idle",),
        "device A is idle",
    )
