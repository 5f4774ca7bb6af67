"""The worker process: runs decoders of libsigrokdecode on samples, or rows, in shared memory.

Run by its path with ``python -I -S``. It takes commands on standard input and answers on what was
standard output; what decoders print goes to standard error, which the host keeps. Nothing of the
project is imported: ``sys.path`` belongs to the decoders, whose modules have names such as ``can``.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import mmap
import os
import resource
import select
import signal
import sys
import threading
import time
from array import array
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from freezeframe.decoders.srd.libsrd import Library, Session


_MOST_TEXTS = 1 << 16  # different texts that are kept; timing decoders never repeat one
_MOST_PRINTED_B = 1 << 24  # by decoders, between two answers
_TRIAL_ROW_B = 24  # start, end and class, 64 bits each
_MOST_TRIAL_ROWS = 1 << 15
_TRIAL_TIMEOUT_S = (
    20.0  # of the clock on the wall; the limit of CPU strikes first but where nothing is done
)


def main() -> None:
    """Do what standard input says until it ends."""
    replies = os.dup(1)
    os.dup2(2, 1)
    worker = _Worker()
    threading.Thread(target=worker.frames.end_with, args=(os.getppid(),), daemon=True).start()
    for line in sys.stdin.buffer:
        command = json.loads(line)
        try:
            reply, payload = worker.do(command)
        # Whatever a decoder does wrong is the host's to report, and the end of this process.
        except BaseException as error:
            reply, payload = {"error": f"{error}" or type(error).__name__}, b""
        worker.frames.write_frame(replies, reply, payload)
        if "error" in reply and command["do"] != "describe":
            break
    # Not sys.exit: taking the library down crashes.
    os._exit(0)


class _Worker:
    def __init__(self) -> None:
        self.frames = _sibling("worker_frames", "..")
        self._libsrd = _sibling("libsrd")
        self._library: Library | None = None
        self._session: Session | None = None
        self._memory: mmap.mmap | None = None
        self._address = 0

    def do(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        doing = {
            "load": self._load,
            "describe": self._describe,
            "open": self._open,
            "samples": self._samples,
            "rows": self._rows,
            "trials": self._trials,
        }
        return doing[command["do"]](command)

    def _load(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        # A decoder that gives or prints without end gets an exception before the machine suffers.
        hard_B = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        most_B = (
            _MOST_PRINTED_B if hard_B == resource.RLIM_INFINITY else min(_MOST_PRINTED_B, hard_B)
        )
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_B, most_B))
        _sibling("jail", os.path.join("..", "..", "capture")).enter(  # noqa: PTH118 # one import less
            command["memory_limit_B"], of_data=False
        )
        self._library = self._libsrd.Library(command["library"], command["folders"])
        return {"version": self._library.version}, b""

    def _loaded(self) -> Library:
        if self._library is None:
            raise RuntimeError("the library was not loaded")
        return self._library

    def _describe(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        library = self._loaded()
        _said()
        try:
            decoder = library.load(command["name"])
        except RuntimeError as error:
            raise RuntimeError("; ".join(_complaints()) or str(error)) from error
        channels = [
            {"id": c["id"], "desc": c.get("desc") or c.get("name") or c["id"], "optional": optional}
            for optional, kind in ((False, "channels"), (True, "optional_channels"))
            for c in getattr(decoder, kind, ())
        ]
        options = [
            {
                "id": o["id"],
                "desc": o.get("desc") or o["id"],
                "default": o["default"],
                "values": list(o.get("values", ())),
            }
            for o in getattr(decoder, "options", ())
        ]
        return {
            "id": decoder.id,
            "name": decoder.name,
            "doc": decoder.desc,
            "inputs": list(decoder.inputs),
            "outputs": list(decoder.outputs),
            "channels": channels,
            "options": options,
            "tags": list(getattr(decoder, "tags", ())),
            "classes": [entry[0] for entry in getattr(decoder, "annotations", ())],
            "rows": [[row[0], list(row[2])] for row in getattr(decoder, "annotation_rows", ())],
        }, b""

    def _share(self, command: dict[str, Any]) -> None:
        self._memory = mmap.mmap(command["memory_fd"], command["memory_B"])
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))

    def _open(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        library = self._loaded()
        self._share(command)
        try:
            self._session = self._libsrd.Session(
                library, command["stack"], command["samplerate_hz"], command["unitsize_B"]
            )
        except RuntimeError as error:
            raise RuntimeError("; ".join([str(error), *_complaints()])) from error
        return {"opened": True}, b""

    def _samples(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        session = self._session
        if session is None:
            raise RuntimeError("samples before the stack was opened")
        begin, end = command["begin_sample"], command["end_sample"]
        result = 0
        # A decoder may say that it is done by returning; what follows is not for it.
        if not session.ended:
            result = session.send(begin, end, self._address + command["offset_B"])
        return self._found(session, result)

    def _rows(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Give rows of 64-bit numbers to the lowest decoder, which is one of ours (feeds/)."""
        session, memory = self._session, self._memory
        if session is None or memory is None:
            raise RuntimeError("rows before the stack was opened")
        width = command["width"]
        begin_B = command["offset_B"]
        whole = memoryview(memory)[begin_B : begin_B + 8 * width * command["rows"]]
        rows: Any = whole.cast("q", (command["rows"], width)).tolist()  # lists in a list
        session.give(rows)
        return self._found(session, 0)

    def _trials(self, command: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Run decoders one after the other on the same samples, each in a child of this process.

        The library has one session, and no decoder that has failed leaves it as it was; a child has a
        fresh one, with all that is loaded, within a millisecond or two.
        """
        library = self._loaded()
        self._share(command)
        counts, errors, payload = [], [], []
        for trial in command["trials"]:
            try:
                library.load(trial["id"])
            except RuntimeError as error:
                counts.append(0)
                errors.append(str(error))
                continue
            data = _in_child(
                partial(self._trial, command, trial), self.frames.write_all, command["limit_s"]
            )
            problem, _, rows = data.partition(b"\n")
            counts.append(len(rows) // _TRIAL_ROW_B)
            errors.append(problem.decode("utf-8", "replace"))
            payload.append(rows[: counts[-1] * _TRIAL_ROW_B])
        return {"rows": counts, "errors": errors}, b"".join(payload)

    def _trial(self, command: dict[str, Any], trial: dict[str, Any]) -> bytes:
        """Run one decoder, in the child; a line with what went wrong, then the rows."""
        try:
            session = self._libsrd.Session(
                self._loaded(), [trial], command["samplerate_hz"], command["unitsize_B"]
            )
            session.send(0, command["samples"], self._address)
        except RuntimeError as error:
            return f"{error}\n".encode()
        fresh = session.rows.fresh[:_MOST_TRIAL_ROWS]
        problem = session.failures[0] if session.failures else ""
        rows = array("q", [number for row in fresh for number in row[:3]])
        return problem.replace("\n", " ").encode() + b"\n" + rows.tobytes()

    def _found(self, session: Session, result: int) -> tuple[dict[str, Any], bytes]:
        """Return the annotations since the last time; ``result`` is the library's verdict."""
        problems = session.failures or _complaints()
        if not problems and result and not session.ended:
            problems = [f"the library answers {result}"]
        if problems:
            raise RuntimeError(problems[0])
        columns, texts, restart = session.rows.take(_MOST_TEXTS)
        # Plain strings: of lists the host's collector of garbage would look at each, again and again.
        columns.append(array("i", map(len, texts)))
        flat = json.dumps([text for wordings in texts for text in wordings]).encode()
        payload = b"".join([*(column.tobytes() for column in columns), flat])
        return {"rows": len(columns[0]), "texts": len(texts), "texts_restart": restart}, payload


def _in_child(
    work: Callable[[], bytes], write: Callable[[int, bytes], None], limit_s: float
) -> bytes:
    """Return what ``work`` returns in a forked process; what there is of it where that dies or hangs."""
    receive, send = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(receive)
            used = resource.getrusage(resource.RUSAGE_SELF)
            limit = int(used.ru_utime + used.ru_stime + limit_s) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            write(send, work())
        finally:
            os._exit(0)
    os.close(send)
    parts = []
    deadline = time.monotonic() + _TRIAL_TIMEOUT_S
    while select.select([receive], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(receive, 1 << 16)
        if not part:
            break
        parts.append(part)
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(receive)
    os.waitpid(pid, 0)
    return b"".join(parts)


def _said() -> list[str]:
    """Take what was written to standard error since the last time, in lines."""
    size_B = os.fstat(2).st_size
    if not size_B:
        return []
    text = os.pread(2, min(size_B, 1 << 16), 0).decode("utf-8", "replace")
    os.ftruncate(2, 0)
    os.lseek(2, 0, os.SEEK_SET)
    return text.splitlines()


def _complaints() -> list[str]:
    """Take what the library has said, without the traces of exceptions."""
    lines = [line.removeprefix("srd: ") for line in _said() if line.startswith("srd: ")]
    return [line for line in lines if not line.startswith("Traceback")]


def _sibling(name: str, folder: str = "") -> Any:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), folder, f"{name}.py")  # noqa: PTH100, PTH118, PTH120 # one import less
    spec = importlib.util.spec_from_file_location(f"_freezeframe_srd_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
