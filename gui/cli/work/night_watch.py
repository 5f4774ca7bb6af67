"""What a guard does beside guarding, in a thread of its own: explains what was caught, writes it down, tells somebody.

A capture is explained by a process of its own: what goes wrong there is one line here, and the guard looks at its cards
all the while.
"""

from __future__ import annotations

import json as json_text
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.custody.store import BUNDLE, captures_in, kind_of
from freezeframe.capture.custody.telling import Tellers, end_with_all
from freezeframe.gui.text import printable

_LONGEST_S = 900.0
_MANY = 10  # captures that wait: told from so many on, at each doubling
_LAST_S = 30.0  # for what is being explained when the guard is to end


class NightWatch:
    """A queue of captures and events, worked off one after the other."""

    def __init__(
        self,
        tellers: Tellers,
        said: Callable[[dict[str, Any]], None],
        *,
        bundle: bool = False,
    ) -> None:
        """Wait for `begin`.

        Args:
            said: is called with each explanation, from the thread.
            bundle: packs each capture into one file for those who are told.
        """
        self._tellers = tellers
        self._said = said
        self._bundle = bundle
        self._queue: queue.SimpleQueue[Path | dict[str, Any] | None] = queue.SimpleQueue()
        self._waiting: set[str] = set()
        self._many = _MANY
        self._lock = threading.Lock()  # of what waits
        self._dropped = False
        self._at = ""  # what is worked on
        self._child: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None

    def begin(self, log: GuardLog) -> None:
        """Begin to work; ``log`` takes what is found, and what goes wrong."""
        self._log = log
        self._thread = threading.Thread(target=self._work, name="explain", daemon=True)
        self._thread.start()

    def explain(self, path: Path) -> None:
        """Have a capture explained, and somebody told."""
        with self._lock:
            self._waiting.add(path.name)
            count = len(self._waiting)
            told = count >= self._many
            self._many *= 1 + told
        self._queue.put(path)
        if told:
            self._log(f"{count} captures wait to be explained; they come faster than that is done")

    def waiting(self) -> frozenset[str]:
        """Return the names of the captures that are still to be explained, packed and told; of any thread."""
        with self._lock:
            return frozenset(self._waiting)

    def not_explained(self, directory: Path) -> int:
        """Return how many captures stand there that the next start explains."""
        return sum(path.name not in self._log.kinds for path in captures_in(directory))

    def trouble(self, what: str, line: str) -> None:
        """Have somebody told of something that is wrong, or well again."""
        if self._tellers:
            self._queue.put(_event(what, line))

    def finish(self, *, drop: bool) -> None:
        """Wait until all is done; with ``drop`` only for what is under way, and not for long."""
        if self._thread is None:
            return
        self._dropped = drop
        self._queue.put(None)
        self._thread.join(_LAST_S if drop else None)
        child = self._child
        if self._thread.is_alive() and child is not None and child.poll() is None:
            end_with_all(child)
            self._thread.join(1.0)
        if self._thread.is_alive():
            self._log(f"{self._at}: the guard ends while somebody is told of it; not all were")

    def _work(self) -> None:
        untold = 0
        while (item := self._queue.get()) is not None:
            if self._dropped:
                untold += isinstance(
                    item, dict
                )  # a capture is explained, and told, at the next start
                continue
            self._at = item.name if isinstance(item, Path) else str(item["text"])
            try:
                for line in (
                    self._captured(item) if isinstance(item, Path) else self._told(item, None)
                ):
                    self._log(line)
            except OSError as error:  # no process can be started, or a bundle has gone
                what = ""
                if isinstance(item, Path) and item.name not in self._log.kinds:
                    what = "not explained, which the next start does: "
                self._log(f"{self._at}: {what}{_refusal(error)}")
            finally:
                if isinstance(item, Path) and not (
                    self._dropped and item.name not in self._log.kinds
                ):
                    with self._lock:
                        self._waiting.discard(item.name)
                        self._many = self._many if self._waiting else _MANY
        if untold:
            self._log(f"the guard ends; nobody was told of {plural(untold, 'line')} of trouble")

    def _captured(self, path: Path) -> Iterator[str]:
        document = self._explained(path)
        if document is None:
            return  # it was ended with the guard
        document["explained"] = datetime.now(UTC).isoformat(timespec="seconds")
        if trouble := self._log.explained(document):
            yield f"{path.name}: {trouble}; explained again at the next start"
        self._said(document)
        bundle = path.with_suffix(BUNDLE) if self._bundle else None
        if bundle is not None:
            code, _, errors = self._run("bundle", str(path), "-o", str(bundle), "--force")
            if code:
                bundle = None
                yield f"{path.name}: no bundle: {_last(errors, code)}"
        event = _event("capture", summary(document), path=str(path.resolve()))
        yield from self._told(
            {**event, "finding": kind_of(document), "explanation": document}, bundle
        )

    def _told(self, event: dict[str, Any], bundle: Path | None) -> Iterator[str]:
        yield from self._tellers.tell(event, bundle)

    def _explained(self, path: Path) -> dict[str, Any] | None:
        """Return what there is to say of a capture; its failure is said as ``error``."""
        document: dict[str, Any] = {"capture": path.name, **_dates(path)}
        code, out, errors = self._run("explain", str(path), "--json")
        if self._dropped and code < 0:
            return None
        try:
            if code:
                raise ValueError(_last(errors, code))
            said = json_text.loads(out)
            if "devices" in said:
                said["findings"] = [f for device in said["devices"] for f in device["findings"]]
            return {**said, **document}
        except (ValueError, LookupError, TypeError) as error:
            return {**document, "findings": [], "error": f"could not be explained: {error}"}

    def _run(self, *arguments: str) -> tuple[int, str, str]:
        """Run a verb in a process of its own; return its exit code, output and errors."""
        child = subprocess.Popen(
            [sys.executable, "-m", "freezeframe", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the guard
        )
        self._child = child
        try:
            out, errors = child.communicate(timeout=_LONGEST_S)
        except subprocess.TimeoutExpired:
            end_with_all(child)
            out, errors = child.communicate()
            errors += f"took more than {_LONGEST_S:g} s"
        return child.returncode, out, errors


def _refusal(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


def _last(errors: str, code: int) -> str:
    return (errors.strip().splitlines() or [f"exit code {code}"])[-1]


def summary(document: dict[str, Any]) -> str:
    """Return an explanation in one line."""
    name = document["capture"]
    if document.get("error"):
        return printable(f"{name}: {document['error']}")
    findings = document["findings"]
    if not findings:
        # Of a pair as a whole, of described cards each: "stalled, and no fault found" is more than its second half.
        told = [document, *document.get("devices", ())]
        answers = sorted({each["answer"] for each in told if each.get("answer")})
        return printable(f"{name}: {answers[-1] if answers else 'no fault found'}")
    first = findings[0]
    tap = f"{first['device']}.{first['tap']}" if first["tap"] else str(first["device"])
    parts = [f"{name}: {first['diagnosis']} at {tap}"]
    parts += [f"{key} {first[key]}" for key in ("flow", "packet", "word") if first[key] is not None]
    return printable(", ".join(parts))


def _dates(path: Path) -> dict[str, Any]:
    """Return what the capture itself says of who armed, froze and pulled it, and when."""
    try:
        manifest = json_text.loads((path / "manifest.json").read_bytes())
        return {"history": manifest["history"], "source": manifest["source"]}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _event(what: str, text: str, **known: Any) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {"event": what, "when": now, "host": socket.gethostname(), "text": text, **known}
