"""What all tests share: no property test passes or fails on an absolute time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("freezeframe", deadline=None, print_blob=True)
settings.load_profile("freezeframe")
