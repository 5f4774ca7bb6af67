"""What became of a freeze, in one line: that it was pulled, and what explains it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MOST_S = 600


def told(findings: Sequence[Mapping[str, Any]], answer: str) -> str:
    """Return ``pulled and explained: word-omitted at A.tx_deq, packet 69``; ``answer`` where nothing was found."""
    if not findings:
        return f"pulled and explained: {answer}"
    first = findings[0]
    where = ".".join(str(first[part]) for part in ("device", "tap") if first.get(part))
    parts = [str(first["diagnosis"]) + (f" at {where}" if where else "")]
    parts += [f"{name} {first[name]}" for name in ("flow", "packet") if first.get(name) is not None]
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"pulled and explained: {', '.join(parts)}{more}"


def explained_apart(capture: Path) -> str:
    """Explain a capture in a process of its own, so that who watches goes on and stays small; return the line."""
    run = [sys.executable, "-m", "freezeframe", "explain", str(capture), "--json"]
    try:
        done = subprocess.run(run, capture_output=True, text=True, timeout=_MOST_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"pulled, and not explained: {error}"
    try:
        made = json.loads(done.stdout)
    except ValueError:
        why = (done.stderr.strip().splitlines() or ["explain gave no answer"])[-1]
        return f"pulled, and not explained: {why}"
    return told(made["findings"], str(made["answer"]))
