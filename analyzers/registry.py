"""Find analyses by the entry-point group ``freezeframe.analyzers``; list those that do not load.

Source: Python Packaging User Guide, entry points specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from freezeframe.analyzers.contract import Analysis
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such

GROUP = "freezeframe.analyzers"


@dataclass(frozen=True, slots=True)
class AnalysisRegistry:
    """The analyses that loaded, by id, and why others did not, a line each."""

    analyses: Mapping[str, Analysis] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> Analysis:
        """Return the analysis with this id.

        Raises:
            InputError: there is none, or it did not load; the message says which there are, or why.
        """
        if name in self.analyses:
            return self.analyses[name]
        if name in self.broken:
            raise InputError(f"analysis {name} does not load: {self.broken[name]}")
        raise InputError(no_such("analysis", name, sorted(self.analyses)))


def load_analyses(points: Iterable[EntryPoint] | None = None) -> AnalysisRegistry:
    """Load every analysis that an installed package offers; by default those of this environment."""
    analyses: dict[str, Analysis] = {}
    broken: dict[str, str] = {}
    offered = entry_points(group=GROUP) if points is None else points
    for point in sorted(offered, key=lambda p: (p.name, p.value)):
        try:
            loaded = point.load()
        # Someone else's module can fail in any way, and whatever it is belongs in the list.
        except (Exception, SystemExit) as error:
            broken[point.name] = f"{point.value}: {type(error).__name__}: {_line(error)}"
            if isinstance(error, ImportError) and (error.name or "").startswith("freezeframe."):
                broken[point.name] += " (was it written for Freezeframe 0.1?)"
            continue
        if not isinstance(loaded, Analysis):
            broken[point.name] = f"{point.value} is a {type(loaded).__name__}, not an Analysis"
        elif loaded.id != point.name:
            broken[point.name] = f"{point.value} says that it is {loaded.id}"
        elif point.name in analyses:
            broken[point.name] = f"{point.value}: another package offers one of this name"
        else:
            analyses[point.name] = loaded
    return AnalysisRegistry(analyses, broken)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or "no message"
