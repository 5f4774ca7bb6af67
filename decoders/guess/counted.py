"""What a run of a decoder gives over a stretch of a capture: what `decode` gives there, row by row.

A proposal states no other count: what a rule weighs (half an error for what is only unusual, a good row for what a
wrong frame would have been) is for the score alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps

_MANY = 0.1  # errors for each row
_MOST_NAMED = 2


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of the kind that is proposed, and rows of kind ``error`` in all tables, with the stretch they are of.

    ``named`` are the texts of the errors, the most frequent first. ``edges`` are changes of the lines in question.
    ``whole``: the stretch is the capture; else what begins in it and is over before ``end_ps``, or before the sample
    ``end`` where the capture has no rate (then ``end_ps`` is None).
    """

    rows: int
    errors: int
    named: tuple[str, ...]
    edges: int
    end: int
    end_ps: int | None
    whole: bool

    @property
    def many_errors(self) -> bool:
        """Whether the errors speak against the decoder."""
        return self.errors > _MANY * self.rows

    @property
    def span(self) -> str:
        """The stretch in words."""
        if self.whole:
            return "in the whole capture"
        end = f"sample {self.end:,}" if self.end_ps is None else format_ps(self.end_ps)
        return f"in the first {plural(self.edges, 'edge')} of its lines, to {end}"

    def text(self, one: str, many: str) -> str:
        """Return ``3 frames, 1 error (bad-turnaround) in the whole capture``."""
        more = ", ..." if len(self.named) > _MOST_NAMED else ""
        named = f" ({', '.join(self.named[:_MOST_NAMED])}{more})" if self.named else ""
        return f"{plural(self.rows, one, many)}, {plural(self.errors, 'error')}{named} {self.span}"

    def document(self) -> dict[str, Any]:
        """Return the same as JSON has it."""
        return {
            "rows": self.rows,
            "errors": self.errors,
            "looked_at": {"whole": self.whole, "edges": self.edges, "end_ps": self.end_ps},
        }


def most_frequent(texts: Counter[str]) -> tuple[str, ...]:
    """Return the texts, the most frequent first, without empty ones."""
    return tuple(text for text, _ in texts.most_common() if text)
