"""The exceptions of Freezeframe: one root, and the exit code each means on the command line.

A message says where, what, how much, and what to do. Bad wire data never raises: it becomes an event.
"""

from __future__ import annotations

_LINE_ENDS = {ord(end): repr(end)[1:-1] for end in "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"}


class FreezeframeError(Exception):
    """Root of everything that is reported in one line, without a traceback."""

    exit_code = 2

    def __str__(self) -> str:
        r"""Return one line: a line end that a file or an argument brought into it is shown as ``\n``."""
        return super().__str__().translate(_LINE_ENDS)

    @property
    def lines(self) -> tuple[str, ...]:
        """What to print: one line, or one for each problem of an input that has several."""
        return (str(self),)


class FreezeframeWarning(UserWarning):
    """What was asked goes on, and something beside it is wrong."""


class InputError(FreezeframeError):
    """What the user asked for or handed over cannot be used."""


class RegisterError(InputError, ValueError):
    """A device has no such register, field or index, or not for what was asked."""


class NoRoomError(InputError):
    """A disk is full; nothing was left behind, and it may be tried again when there is room."""


class CaptureFormatError(InputError):
    """A file is not what its format says it should be: cut, altered, or lying about its size."""


class CaptureVersionError(CaptureFormatError):
    """A file was written by a version of the format that this program does not read."""


class TargetError(FreezeframeError):
    """A device or the way to it failed."""

    exit_code = 3


class TargetTimeout(TargetError):
    """A target did not answer in time; it may be gone for good or only for a moment."""


class BusError(TargetError):
    """The device answered an access with an error: outside the map, or a window before the freeze."""


class DeviceUnknownError(TargetError):
    """Something answered, but it is not a Freezeframe device, or its map is one we do not know."""


class RecorderStateError(TargetError):
    """The recorder is not in the state that the request needs.

    Args:
        option: what goes on all the same, where something does: ``discard`` ends the line as ``; or give it up:
            discard=True`` for who called this from Python, and as ``--discard`` where the command line prints it.
    """

    def __init__(self, text: str, *, option: str = "") -> None:
        super().__init__(text)
        self._option = option

    @property
    def said(self) -> str:
        """The line without how it goes on, for a window that has its own way to ask."""
        return super().__str__()

    def __str__(self) -> str:
        return f"{self.said}; or give it up: {self._option}=True" if self._option else self.said

    @property
    def lines(self) -> tuple[str, ...]:
        return (f"{self.said}; or give it up: --{self._option}" if self._option else self.said,)


class ForeignRecordingError(RecorderStateError):
    """A recorder that a test has armed holds the recording of another program, or of another boot."""
