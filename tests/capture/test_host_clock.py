"""What the kernel says of its clock, and how a history has it."""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from freezeframe.capture.folder.history import act, history_lines
from freezeframe.capture.host_clock import clock_text, clocks_text, host_clock

# struct timex on 64 bits, by the offsets of the kernel's header: status at 40, maxerror at 24, esterror at 32.
IN_STEP = bytes.fromhex(
    "00000000" "00000000"  # modes
    "0000000000000000" "0000000000000000"  # offset, freq
    "d204000000000000" "2300000000000000"  # maxerror 1234 us, esterror 35 us
    "0120000000000000"  # status: STA_PLL, STA_NANO
)  # fmt: skip
NOT_IN_STEP = IN_STEP[:40] + bytes.fromhex("4020000000000000")  # STA_UNSYNC


class _Kernel:
    """A C library whose kernel gives these bytes."""

    def __init__(self, said: bytes, state: int) -> None:
        self._said, self._state = said, state
        self.modes: int | None = None

    def adjtimex(self, place: Any) -> int:
        self.modes = ctypes.c_uint.from_address(ctypes.addressof(place._obj)).value
        ctypes.memmove(place, self._said, len(self._said))
        return self._state


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the bytes are those of 64 bits")
@pytest.mark.parametrize(
    ("said", "state", "gives"),
    [
        (IN_STEP, 0, {"in_step": True, "est_error_us": 35, "max_error_us": 1234}),
        (NOT_IN_STEP, 5, {"in_step": False, "est_error_us": 35, "max_error_us": 1234}),
        (b"", -1, None),  # EPERM, in a sandbox
    ],
)
def test_the_words_of_the_kernel_are_read_and_none_is_set(
    monkeypatch: pytest.MonkeyPatch, said: bytes, state: int, gives: Mapping[str, Any] | None
) -> None:
    kernel = _Kernel(said, state)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("ctypes.CDLL", lambda _: kernel)
    assert host_clock() == gives
    assert kernel.modes == 0


@pytest.mark.parametrize("platform_name", ["darwin", "win32"])
def test_on_another_system_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, platform_name: str
) -> None:
    monkeypatch.setattr("sys.platform", platform_name)
    assert host_clock() is None


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the call's number is that of x86-64")
@pytest.mark.skipif(sys.platform != "linux", reason="the call is Linux's")
def test_this_machine_says_the_same_to_the_bare_system_call() -> None:
    words = ctypes.create_string_buffer(512)
    state = ctypes.CDLL(None).syscall(159, words)  # adjtimex, past the C library
    known = host_clock()
    if state < 0:
        assert known is None
    else:
        assert known is not None
        assert known["in_step"] == (not struct.unpack_from("<i", words, 40)[0] & 0x40)


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        ({"in_step": True, "max_error_us": 1234}, "clock of the host in step, to 1.3 ms"),
        ({"in_step": True, "max_error_us": 87}, "clock of the host in step, to 87 µs"),
        ({"in_step": True, "max_error_us": 996_001}, "clock of the host in step, to 1 s"),
        ({"in_step": True, "max_error_us": 0}, "clock of the host in step"),
        ({"in_step": False, "max_error_us": 16_000_000}, "clock of the host not in step"),
        (None, ""),
        ({"in_step": "yes"}, ""),
        ({"in_step": True, "max_error_us": True}, "clock of the host in step"),
        ("in step", ""),
    ],
)
def test_a_clock_in_words(clock: object, text: str) -> None:
    assert clock_text(clock) == text


KEPT_IN_STEP = {"in_step": True, "max_error_us": 1201}
OFF = {"in_step": False, "max_error_us": 16_000_000}


@pytest.mark.parametrize(
    ("clocks", "text"),
    [
        ([KEPT_IN_STEP], "clock of the host in step at 1 freeze, to 1.3 ms"),
        (
            [KEPT_IN_STEP, {"in_step": True, "max_error_us": 5000}],
            "clock of the host in step at 2 freezes, to 5 ms",
        ),
        (
            [KEPT_IN_STEP, OFF, KEPT_IN_STEP],
            "clock of the host not in step at 1 of 3 freezes: its dates may be off",
        ),
        (
            [OFF, None, {"in_step": "yes"}],
            "clock of the host not in step at 1 of 1 freeze: its dates may be off; 2 freezes without a word of it",
        ),
        ([{"in_step": True}], "clock of the host in step at 1 freeze"),
        ([None], ""),
        ([], ""),
    ],
)
def test_the_clocks_of_many_moments_are_summed_up(clocks: list[object], text: str) -> None:
    assert clocks_text(clocks, "freeze") == text


def test_each_act_has_the_clock_and_its_line_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"in_step": True, "est_error_us": 35, "max_error_us": 1201}
    monkeypatch.setattr("freezeframe.capture.folder.history.host_clock", lambda: known)
    assert act("pulled")["clock"] == known
    by_jan = {"when": "2026-11-27T20:00:00+00:00", "who": "jan", "where": "lab7"}
    history: list[dict[str, Any]] = [
        {"what": "armed", **by_jan, "clock": known},
        {"what": "frozen", **by_jan, "by": "this pull", "clock": {**known, "in_step": False}},
        {"what": "pulled", **by_jan},  # by a release of before
    ]
    assert history_lines(history) == [
        "armed 2026-11-27T20:00:00+00:00 by jan on lab7 (clock of the host in step, to 1.3 ms)",
        "frozen 2026-11-27T20:00:00+00:00 by jan on lab7 (this pull; clock of the host not in step)",
        "pulled 2026-11-27T20:00:00+00:00 by jan on lab7",
    ]
