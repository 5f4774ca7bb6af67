"""The card of the tests of the guard."""

from __future__ import annotations

import pytest

from freezeframe.capture.recorder import guard_posts
from tests.capture.recorder.guarded_card import Card


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    card = Card()
    monkeypatch.setattr(guard_posts, "open_target", card.open)
    return card
