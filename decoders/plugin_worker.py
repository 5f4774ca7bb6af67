"""The workers of a plug-in as this process sees them: one for each stream that is decoded, those that are idle kept.

What goes to a worker is pickled; what comes back is JSON and Arrow streams, which are checked before they are used.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import CAPTURE, EDGES, PACKETS, OptionValues
from freezeframe.decoders.given_tables import as_stream
from freezeframe.decoders.worker import WorkerState
from freezeframe.decoders.worker_process import WorkerProcess, number_of

TIMEOUT_VARIABLE = "FREEZEFRAME_PLUGIN_TIMEOUT_S"
MEMORY_VARIABLE = "FREEZEFRAME_PLUGIN_MEMORY_MIB"
TIMEOUT_S = 300.0  # of one piece; the first may compile
MEMORY_MIB = 4096.0
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from freezeframe.decoders.plugin_main import main; main()"
)
_MOST_IDLE = 2
_MOST_SAID = 1000
_log = logging.getLogger(__name__)


class PluginWorker(WorkerProcess):
    """A process that has shut itself in and runs a plug-in."""

    timeout_variable = TIMEOUT_VARIABLE
    error = InputError

    def __init__(self, what: str, load: Mapping[str, Any]) -> None:
        """Start it and have it load a plug-in.

        Args:
            what: its name in messages.
            load: ``file``, which is run, or ``points``, value by name, each of which is loaded when it is asked for.

        Raises:
            InputError: the plug-in cannot be used, or the process died of it.
        """
        folders = [folder or str(Path.cwd()) for folder in sys.path]
        command = [sys.executable, "-c", _START, json.dumps(folders)]
        super().__init__(command, what, timeout_s=number_of(TIMEOUT_VARIABLE, TIMEOUT_S, "seconds"))
        memory_MiB = number_of(MEMORY_VARIABLE, MEMORY_MIB, "MiB")
        self.decoders = self.told(
            {
                "do": "load",
                **load,
                "memory_B": int(memory_MiB * (1 << 20)),
                "timeout_s": self._timeout_s,
            },
            "running it",
        )[0]["decoders"]

    def told(
        self, command: dict[str, Any], doing: str, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        """Return the answer to a command; what was printed meanwhile is a line of the log.

        Raises:
            InputError: it failed; the process is gone then.
        """
        self.ask(command, doing, payload)
        header, answered = self.reply()
        self._tell_printed()
        if "error" in header:
            self.close()
            raise InputError(" ".join(str(header["error"]).split())[:_MOST_SAID])
        return header, answered

    def _tell_printed(self) -> None:
        size_B = os.fstat(self._printed.fileno()).st_size
        if not size_B:
            return
        text = os.pread(self._printed.fileno(), 1 << 12, 0).decode("utf-8", "replace")
        os.ftruncate(self._printed.fileno(), 0)
        os.lseek(self._printed.fileno(), 0, os.SEEK_SET)  # the worker writes where this says
        first = "".join(c if c.isprintable() else " " for c in text.strip().partition("\n")[0])
        _log.warning("%s: printed %d B, which begin: %s", self._what, size_B, first[:200])


class Plugin:
    """A plug-in with its workers; any thread may ask."""

    def __init__(self, what: str, load: Mapping[str, Any]) -> None:
        """Take its name in messages, and what `PluginWorker` is to load; nothing starts yet."""
        self.what = what
        self._load = load
        self._idle: list[PluginWorker] = []
        self._lock = threading.Lock()
        self._schemas: dict[tuple[str, int, bool], pa.Schema] = {}

    def described(self) -> dict[str, Any]:
        """Return what the decoders say of themselves, by their names in the file.

        Raises:
            InputError: the file cannot be used.
        """
        worker = self.take()
        self.give_back(worker)
        return dict(worker.decoders)

    def point(self, name: str) -> dict[str, Any]:
        """Return what the decoder of an entry point of a package says of itself.

        Raises:
            InputError: it does not load, or is none.
        """
        command = {"do": "describe", "decoder": name}
        return dict(self._told(command, f"loading {name}")[0]["decoder"])

    def take(self) -> PluginWorker:
        """Return a worker for the caller alone.

        Raises:
            InputError: none starts.
        """
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return PluginWorker(self.what, self._load)

    def give_back(self, worker: PluginWorker) -> None:
        """Keep a worker that is well for the next."""
        with self._lock:
            if len(self._idle) < _MOST_IDLE:
                self._idle.append(worker)
                return
        worker.close()

    def schema(self, decoder: str, output: int, *, wide: bool = False) -> pa.Schema:
        """Return the schema of an output.

        Raises:
            InputError: it is none, or its worker died.
        """
        key = (decoder, output, wide)
        if key not in self._schemas:
            command = {"do": "schema", "decoder": decoder, "output": output, "wide": wide}
            _, data = self._told(command, f"the schema of {decoder}")
            self.keep_schema(key, data)
        return self._schemas[key]

    def keep_schema(self, key: tuple[str, int, bool], data: bytes) -> None:
        """Take a schema as a worker has sent it.

        Raises:
            InputError: it is none.
        """
        self._schemas[key] = _from_arrow(self.what, lambda: pa.ipc.read_schema(pa.py_buffer(data)))

    def texts(self, decoder: str, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Return a row in words: short, normal and long.

        Raises:
            InputError: the decoder failed, or its worker died.
        """
        command = {"do": "texts", "decoder": decoder}
        said = self._told(command, f"the words of {decoder}", pickle.dumps(dict(row)))[0]["texts"]
        short, normal, long = map(str, said)
        return short, normal, long

    def hint(self, decoder: str, table: pa.Table) -> str:
        """Return what the decoder says of a whole table.

        Raises:
            InputError: as `texts`.
        """
        command = {"do": "hint", "decoder": decoder}
        return str(self._told(command, f"the hint of {decoder}", as_stream(table))[0]["hint"])

    def _told(
        self, command: dict[str, Any], doing: str, payload: bytes = b""
    ) -> tuple[dict[str, Any], bytes]:
        worker = self.take()
        answered = worker.told(command, doing, payload)
        self.give_back(worker)
        return answered


class PluginState(WorkerState):
    """The state of one stream: it is in the worker, which goes back to the others behind the last piece."""

    def __init__(self, plugin: Plugin, decoder: str, consumes: str, options: OptionValues) -> None:
        """Have the worker make the state.

        Raises:
            InputError: the decoder cannot work with these options, or its worker died.
        """
        self.left = False
        self._plugin, self._consumes, self._doing = plugin, consumes, f"decoder {decoder}"
        self._worker: PluginWorker | None = plugin.take()
        command = {"do": "open", "decoder": decoder}
        header, data = self._worker.told(command, self._doing, pickle.dumps(dict(options)))
        at = 0
        for output, wide, size_B in header["schemas"]:
            plugin.keep_schema((decoder, output, wide), data[at : at + size_B])
            at += size_B

    def feed(self, piece: Any, *, last: bool) -> dict[str, pa.Table]:
        """Return the tables of a piece, by kind.

        Raises:
            InputError: the decoder failed, or its worker died.
        """
        worker = self._worker
        if worker is None:
            raise ValueError("the stream has ended; a new capture needs a new one")
        header, data = worker.told(
            {"do": "feed", "last": last}, self._doing, _packed(piece, self._consumes)
        )
        tables = {}
        at = 0
        for kind, size_B in header["tables"]:
            tables[str(kind)] = _table(self._plugin.what, data[at : at + size_B])
            at += size_B
        self.left = bool(header["left"])
        if last and not self.left:
            self._worker = None
            self._plugin.give_back(worker)
        return tables

    def stop(self) -> None:
        """Kill the worker; a `feed` in another thread fails then."""
        worker = self._worker
        if worker is not None:
            worker.kill()

    def close(self) -> None:
        """End the worker in the midst of a stream; nothing happens when it has ended."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.close()


def _packed(piece: Any, consumes: str) -> bytes:
    """Return a piece of the input for the worker: pickled, tables as an Arrow stream."""
    if consumes not in (EDGES, PACKETS, CAPTURE):
        return as_stream(piece)
    return pickle.dumps(piece, protocol=5)


def _table(what: str, data: bytes) -> pa.Table:
    def read() -> pa.Table:
        table = pa.ipc.open_stream(pa.py_buffer(data)).read_all()
        table.validate(full=True)
        return table

    return _from_arrow(what, read)


def _from_arrow(what: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (pa.ArrowException, OSError, ValueError) as error:
        why = " ".join(str(error).split())[:_MOST_SAID]
        raise InputError(f"{what}: the worker answers nonsense: {why}") from None
