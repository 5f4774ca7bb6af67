"""The style sheet of the report, as text to put into the page."""

from __future__ import annotations

from pathlib import Path

__all__ = ["style_text"]


def style_text() -> str:
    """Return ``report.css``, which stands beside this module."""
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")
