"""A session with an instrument over VISA, byte by byte, so that no transfer waits without a limit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from freezeframe.capture.errors import InputError, TargetError, TargetTimeout

_LINE_B = 1 << 12
_STEP_MS = 500  # the longest single wait inside the library


class VisaLink:
    """Text and bytes to and from one instrument; every read ends by the deadline that was set.

    No termination character is used in reads: in a waveform any byte may stand.
    """

    def __init__(self, resource: Any, name: str) -> None:
        self._resource = resource
        self.name = name
        self._deadline = 0.0
        self._limit_s = 0.0

    def limit(self, seconds: float) -> None:
        """Let all that is read from now on end within so many seconds."""
        self._limit_s = seconds
        self._deadline = time.monotonic() + seconds

    def write(self, command: str) -> None:
        """Send a command.

        Raises:
            TargetError: the way to the instrument is gone.
        """
        import pyvisa

        try:
            self._resource.write_raw(command.encode("ascii") + b"\n")
        except (pyvisa.Error, OSError) as error:
            raise self._failed(f"{command} could not be sent", error) from None

    def query(self, command: str) -> str:
        """Send a query and return its answer without the newline.

        Raises:
            TargetError: there is none in time, or it is not text.
        """
        self.write(command)
        line = self.line(_LINE_B, command)
        try:
            return line.decode("ascii").strip()
        except UnicodeDecodeError:
            raise TargetError(f"{self.name}: {command} answers {line[:40]!r}, no text") from None

    def line(self, most_B: int, what: str) -> bytes:
        """Return the bytes up to and with a newline that ends the message.

        Raises:
            TargetError: it is longer, or does not come in time.
        """
        got = bytearray()
        while not got.endswith(b"\n"):
            if len(got) >= most_B:
                raise TargetError(f"{self.name}: {what}: more than {most_B} B without an end")
            got += self._step(1, what, len(got))
        return bytes(got)

    def read(self, size_B: int, what: str = "") -> bytes:
        """Return exactly so many bytes.

        Raises:
            TargetTimeout: they do not come in time; the message says how many did.
        """
        got = bytearray()
        while len(got) < size_B:
            got += self._step(size_B - len(got), what, len(got))
        return bytes(got)

    def _step(self, size_B: int, what: str, got_B: int) -> bytes:
        """Return some bytes, at least one."""
        import pyvisa
        from pyvisa.constants import StatusCode

        while True:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                raise TargetTimeout(
                    f"{self.name}: {what}: nothing more after {got_B} B, and {size_B} B were due "
                    f"within {self._limit_s:g} s; nothing is kept"
                )
            self._resource.timeout = max(1, min(_STEP_MS, round(left_s * 1000)))
            try:
                data, status = self._resource.visalib.read(self._resource.session, size_B)
            except pyvisa.VisaIOError as error:
                if error.error_code == StatusCode.error_timeout:
                    continue
                raise self._failed(what, error) from None
            except (pyvisa.Error, OSError) as error:
                raise self._failed(what, error) from None
            if data:
                return bytes(data)
            if status not in (StatusCode.error_timeout, StatusCode.success):
                raise TargetError(f"{self.name}: {what}: {status!r}")

    def _failed(self, what: str, error: BaseException) -> TargetError:
        why = " ".join(str(error).split())
        return TargetError(f"{self.name}: {what}: {why}")


@contextmanager
def open_visa(resource: str, backend: str = "@py") -> Iterator[VisaLink]:
    """Open an instrument for a block; it is closed in every case.

    Args:
        resource: a VISA resource name, ``TCPIP::192.0.2.9::5025::SOCKET``.
        backend: VISA library; ``@py`` is pyvisa-py, ``FILE.yaml@sim`` a simulated instrument.
    Raises:
        InputError: pyvisa is not installed, or the name is none.
        TargetError: it cannot be reached.
    """
    try:
        import pyvisa
    except ImportError:
        raise InputError(
            "instruments are reached with pyvisa, which is not installed; "
            "pip install 'freezeframe[instruments]'"
        ) from None
    try:
        manager = pyvisa.ResourceManager(backend)
    except (OSError, ValueError, pyvisa.Error) as error:
        raise InputError(f"VISA library {backend!r}: {' '.join(str(error).split())}") from None
    try:
        try:
            opened = manager.open_resource(resource, open_timeout=5000)
        # pyvisa-py raises a bare Exception where a host does not answer.
        except Exception as error:
            why = " ".join(str(error).split())
            kind = InputError if isinstance(error, ValueError) else TargetError
            raise kind(f"{resource}: cannot be opened: {why}") from None
        try:
            # That more may come is what reading in parts is for, and no warning.
            with opened.ignore_warning(pyvisa.constants.StatusCode.success_max_count_read):
                yield VisaLink(opened, resource)
        finally:
            opened.close()
    finally:
        manager.close()
