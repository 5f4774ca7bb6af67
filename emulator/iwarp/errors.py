"""What can go wrong with an iWARP peer: all of it ends in one line, and the listener lives on."""

from __future__ import annotations

from freezeframe.capture.errors import TargetError, TargetTimeout


class IwarpError(TargetError):
    """Root of all that a peer does, or fails to do."""


class StartupError(IwarpError):
    """The MPA frames do not lead to a connection; ``rule`` is the name in `decoders.iwarp.rules`, if one is broken."""

    def __init__(self, text: str, rule: str = "") -> None:
        super().__init__(text)
        self.rule = rule


class RejectedError(IwarpError):
    """The Reply rejects the connection; ``private_data`` is what the peer says of it."""

    def __init__(self, text: str, private_data: bytes) -> None:
        super().__init__(text)
        self.private_data = private_data


class PeerSilentError(IwarpError, TargetTimeout):
    """Nothing came, or nothing was taken, within the time limit."""


class PeerGoneError(IwarpError):
    """The TCP connection ended or broke; ``inside`` says that it was inside a frame."""

    def __init__(self, text: str, *, inside: bool = False) -> None:
        super().__init__(text)
        self.inside = inside


class PeerClosedError(PeerGoneError):
    """The peer has ended the connection after a whole FPDU, as it may."""


class TerminatedError(IwarpError):
    """The peer sent a Terminate: ``cause`` is its layer, type and code, ``message`` all of it."""

    def __init__(self, text: str, cause: tuple[int, int, int], message: bytes) -> None:
        super().__init__(text)
        self.cause = cause
        self.message = message


class BreachError(IwarpError):
    """The peer broke a rule, and was sent a Terminate with ``cause``: layer, type, code."""

    def __init__(self, text: str, cause: tuple[int, int, int]) -> None:
        super().__init__(text)
        self.cause = cause
