"""What to measure next where a capture does not decide: the one command whose answer tells most.

What this very freeze still holds comes first: memories that were not read, and the other end. Then a trigger at the tap
before the stretch, so that the next recording has both taps around the packet; else the next freeze of the same kind.
"""

from __future__ import annotations

import shlex

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.witness.bound import bind
from freezeframe.analyzers.witness.case import Case


def next_command(case: Case, finding: Finding) -> str:
    """Return the command that would separate the candidates of a finding best."""
    view = case.facts.view
    source = view.folder.manifest.get("source")
    target = shlex.quote(source) if isinstance(source, str) and source else "TARGET"
    if view.incomplete:
        return f"freezeframe pull {target} -o again.ff"
    if len(view.devices) < len(view.folder.devices):
        return f"freezeframe explain {shlex.quote(str(view.folder.path))}"
    if len(view.devices) < 2:
        return f"freezeframe pull {target} -o both.ff"
    bound = bind(case, finding)
    if bound.tap is None or "recorder-suspect" in finding.candidates:
        return f"freezeframe guard {target}"
    device, tap = view.path(bound.sender, bound.receiver)[max(0, bound.tap - 1)]
    term = "kind=HEAD" if finding.flow is None else f"flow={finding.flow}"
    return f"freezeframe trigger {target} --device {device} --on {tap} --term {term} --arm"
