"""A rack of cards as a test suite: the fixture `frozen_card`, the check `assert_explains`.

    def test_no_fault_under_load(frozen_card):
        with frozen_card() as card:
            run_traffic()
        assert_explains(card.capture)

The card is ``--freezeframe-card URL`` of pytest, or the environment's FREEZEFRAME_CARD, or the emulated pair.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from freezeframe.capture.code import code
from freezeframe.capture.errors import RecorderStateError

_connect = code(
    "freezeframe.capture.connection:connect"
)  # numpy and kernels, only where a card is asked for
_explain = code("freezeframe.analyzers.api:explain")
_POLL_S = 5.0


class FrozenCard:
    """A card that is armed at the beginning of a block, and frozen and pulled at its end.

    Attributes:
        card: the open card, as `freezeframe.connect` gives it.
        capture: the opened capture, from the end of the block on.
        path: where it stands; pytest keeps it as it keeps every ``tmp_path``.
    """

    def __init__(self, url: str, path: Path, wait_s: float, discard: bool) -> None:
        self.card = _connect(url)
        self.path = path
        self.capture: Any = None
        self._wait_s, self._discard = wait_s, discard

    def __enter__(self) -> Self:
        self.card.arm(discard=self._discard)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for a freeze of its own, freeze the card otherwise, and pull it; also where the block failed."""
        try:
            self.card.wait(self._wait_s)
        except RecorderStateError:
            self.card.freeze()
            self.card.wait(_POLL_S)
        self.capture = self.card.pull(self.path)
        self.card.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the card."""
    parser.addoption(
        "--freezeframe-card",
        metavar="URL",
        help="Card for the fixture frozen_card: etherbone://192.0.2.7 or a name.",
    )


@pytest.fixture
def frozen_card(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., FrozenCard]]:
    """Give what opens a card for a block: ``frozen_card(url=None, wait_s=0.0, discard=False)``.

    Its capture stays in ``tmp_path``. ``discard``: a frozen recording that this host has not kept is given up.
    """
    made: list[FrozenCard] = []

    def opened(url: str | None = None, wait_s: float = 0.0, *, discard: bool = False) -> FrozenCard:
        chosen = (
            url
            or request.config.getoption("--freezeframe-card")
            or os.environ.get("FREEZEFRAME_CARD", "emu:")
        )
        made.append(FrozenCard(chosen, tmp_path / f"card{len(made)}.ff", wait_s, discard))
        return made[-1]

    yield opened
    for card in made:
        card.card.close()


def assert_explains(capture: Any, diagnosis: str | None = None, **fields: Any) -> Any:
    """Assert that a capture is explained so, and return the finding.

    Args:
        capture: a path or an opened capture.
        diagnosis: what must be found; None: nothing may be wrong.
        fields: of the finding, for instance ``device="A", tap="tx_deq", word=3``.
    Raises:
        AssertionError: it is explained otherwise; the message says how.
    """
    __tracebackhide__ = True
    findings = list(_explain(capture).findings)
    told = (
        "; ".join(f"{f.diagnosis} at {f.device}.{f.tap}: {f.text}" for f in findings)
        or "no fault found"
    )
    if diagnosis is None:
        assert not findings, f"nothing should be wrong, and the capture says: {told}"
        return None
    named = [f for f in findings if f.diagnosis == diagnosis]
    assert named, f"{diagnosis} is not found; the capture says: {told}"
    wrong = {
        name: getattr(named[0], name)
        for name, value in fields.items()
        if getattr(named[0], name) != value
    }
    assert not wrong, (
        f"{diagnosis} is found, with {wrong} instead of { {n: fields[n] for n in wrong} }: {told}"
    )
    return named[0]
