"""The worker of a plug-in: shuts itself in, runs the file or the package, and answers what it is asked.

Commands come on what was standard input and answers go to what was standard output; both are taken away from the
plug-in, whose prints go to a file that the host reads.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import resource
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from freezeframe.capture import jail
from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.blame import blamed, failed
from freezeframe.decoders.contract import CAPTURE, EDGES, PACKETS, Decoder
from freezeframe.decoders.given_tables import as_stream, checked
from freezeframe.decoders.plugin_file import decoders_of_file
from freezeframe.decoders.registry import GROUP, Registry
from freezeframe.decoders.worker_frames import end_with, write_frame

_MOST_PRINTED_B = 1 << 24  # between two answers


def main() -> None:
    """Answer until the host ends."""
    asked, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    worker = _Worker()
    for line in asked:
        command = json.loads(line)
        payload = _exactly(asked, command["payload_B"])
        reply, data = worker.answer(command, payload)
        write_frame(answers, reply, data)
    # Not sys.exit: what foreign code has left behind must not speak any more.
    os._exit(0)


class _Worker:
    def __init__(self) -> None:
        self._registry = Registry()
        self._state: Any = None
        self._options: Any = None
        self._decoder: Decoder | None = None
        self._memory_B = 0
        self._timeout_s = 0.0

    def answer(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        """Return the answer to a command, which is an error where anything at all went wrong."""
        self._limit_cpu()
        try:
            answer: tuple[dict[str, Any], bytes] = getattr(self, f"_{command['do']}")(
                command, payload
            )
            return answer
        # Foreign code can fail in any way; all of it is for the host to tell.
        except BaseException as error:
            if any(isinstance(each, MemoryError) for each in (error, error.__context__)):
                self._state = None
                return {"error": self._too_much(command)}, b""
            told = str(error) if isinstance(error, FreezeframeError) else self._failed(error)
            return {"error": told}, b""

    def _load(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        self._memory_B, self._timeout_s = command["memory_B"], command["timeout_s"]
        self._limit_cpu()
        _lower(resource.RLIMIT_FSIZE, _MOST_PRINTED_B)
        jail.enter(self._memory_B)
        if "points" in command:
            points = (EntryPoint(name, value, GROUP) for name, value in command["points"].items())
            self._registry = Registry(points=points, jailed=False)
            return {"decoders": {}}, b""
        found = decoders_of_file(Path(command["file"]))
        self._registry = Registry({decoder.id: decoder for decoder in found.values()})
        return {"decoders": {name: _described(decoder) for name, decoder in found.items()}}, b""

    def _describe(
        self, command: dict[str, Any], payload: bytearray
    ) -> tuple[dict[str, Any], bytes]:
        """Import one decoder of a package."""
        return {"decoder": _described(self._found(command["decoder"]))}, b""

    def _found(self, name: str) -> Decoder:
        decoder = self._registry.get(name)
        if decoder is None:
            broken = self._registry.failed(name)
            raise InputError(broken.error if broken else f"there is no decoder {name}")
        return decoder

    def _schema(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        decoder = self._found(command["decoder"])
        return {}, _schema_of(decoder, command["output"], wide=command["wide"])

    def _open(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        self._decoder = decoder = self._found(command["decoder"])
        self._options = decoder.option_values(pickle.loads(payload))  # of our host
        with blamed(decoder, decoder.new_state):
            self._state = decoder.new_state(self._options)
        schemas, parts = [], []
        for number, output in enumerate(decoder.produces):
            for wide in (False, True)[: 1 + (output.wide is not None)]:
                parts.append(_schema_of(decoder, number, wide=wide))
                schemas.append((number, wide, len(parts[-1])))
        return {"schemas": schemas}, b"".join(parts)

    def _feed(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        decoder, last = self._decoder, command["last"]
        if decoder is None:
            raise RuntimeError("a piece before the state")
        piece = _unpacked(payload, decoder.consumes)
        with blamed(decoder, decoder.decode):
            tables = checked(decoder, decoder.decode(piece, self._options, self._state, last))
        left = bool(last and decoder.left is not None and decoder.left(self._state))
        if last and not left:
            self._state = None
        parts = {kind: as_stream(table) for kind, table in tables.items()}
        header = {"tables": [(kind, len(part)) for kind, part in parts.items()], "left": left}
        return header, b"".join(parts.values())

    def _texts(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        decoder = self._found(command["decoder"])
        texts = decoder.texts
        if texts is None:
            raise RuntimeError(f"{decoder.id} has no words")
        row: Mapping[str, Any] = pickle.loads(payload)
        with blamed(decoder, texts):
            said = texts(row)
            words = [said.short, said.normal, said.long]
        return {"texts": [str(word) for word in words]}, b""

    def _hint(self, command: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], bytes]:
        decoder = self._found(command["decoder"])
        if decoder.hint is None:
            raise RuntimeError(f"{decoder.id} has no hint")
        with blamed(decoder, decoder.hint):
            return {"hint": str(decoder.hint(_read(payload)))}, b""

    def _limit_cpu(self) -> None:
        """Allow what the next answer may take on all cores; the host's clock is the closer limit."""
        if self._timeout_s:
            used = resource.getrusage(resource.RUSAGE_SELF)
            more_s = (self._timeout_s + 1) * (os.cpu_count() or 1)
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            limit = math.ceil(used.ru_utime + used.ru_stime + more_s)
            resource.setrlimit(
                resource.RLIMIT_CPU,
                (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard),
            )

    def _too_much(self, command: dict[str, Any]) -> str:
        what = command.get("file") or f"decoder {command.get('decoder') or self._name}"
        return (
            f"{what}: more than {self._memory_B >> 20} MiB of memory were asked for; "
            "FREEZEFRAME_PLUGIN_MEMORY_MIB must allow more, or it is wrong: tell its author"
        )

    def _failed(self, error: BaseException) -> str:
        if self._decoder is not None and isinstance(error, Exception):
            return str(failed(self._decoder, self._decoder.decode, error))
        return f"the plug-in failed: {type(error).__name__}: {error or 'no message'}"

    @property
    def _name(self) -> str:
        return "" if self._decoder is None else self._decoder.id


def _described(decoder: Decoder) -> dict[str, Any]:
    """Return a declaration as data."""
    return {
        "id": decoder.id,
        "name": decoder.name,
        "doc": decoder.doc,
        "consumes": decoder.consumes,
        "produces": [
            {"kind": output.kind, "doc": output.doc, "wide": output.wide is not None}
            for output in decoder.produces
        ],
        "channels": [asdict(channel) for channel in decoder.channels],
        "options": [asdict(option) for option in decoder.options],
        "texts": decoder.texts is not None,
        "hint": decoder.hint is not None,
        "sigrok": decoder.sigrok,
    }


def _schema_of(decoder: Decoder, number: int, *, wide: bool) -> bytes:
    output = decoder.produces[number]
    make: Callable[[], Any] | None = output.wide if wide else output.schema
    if make is None:
        raise RuntimeError(f"{decoder.id} has no wide table")
    with blamed(decoder, make):
        schema = make()
    if not isinstance(schema, pa.Schema):
        raise InputError(
            f"decoder {decoder.id} is wrong: the schema of {output.kind} is a {type(schema).__name__}, "
            "not a pyarrow Schema; tell its author"
        )
    return bytes(schema.serialize())


def _unpacked(payload: bytearray, consumes: str) -> Any:
    if consumes in (EDGES, PACKETS, CAPTURE):
        return pickle.loads(payload)  # of our host
    return _read(payload)


def _read(payload: bytearray) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(payload)).read_all()


def _lower(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    kept = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (kept, kept))


def _exactly(file: IO[bytes], size_B: int) -> bytearray:
    data = bytearray(size_B)
    view = memoryview(data)
    while view:
        count = file.readinto(view)  # type: ignore[attr-defined]
        if not count:
            os._exit(1)  # the host has gone
        view = view[count:]
    return data
