"""Card files for `tests.campaign.harden`: TOML that is TOML, of tables and keys that there are, and wrong in a value.

What most card files fail at is the first thing that is looked at; here one or two things of a good file are changed,
so that what is checked last, and what a card means, are reached.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from tests.campaign.harden_files import Mutate

Json = Any
_ROOT = Path(__file__).parents[2]
_SEQUENCES = b"""schema = 1
[card]
name = "bridge"
[clock.bus]
hz = 50_000_000
registers = true
[format.link]
is = "fields"
[format.link.field.id]
at_bit = 0
bits = 6
[format.link.field.command]
at_bit = 8
bits = 8
names = { read = 1, write = 2, answer = 3, move = 4 }
[format.link.field.status]
at_bit = 16
bits = 4
constant = 3
names = { done = 3, busy = 1 }
[format.link.check.sum]
at = -4
crc = "CRC-32/ISO-HDLC"
[format.link.check.own]
at = 6
width = 16
poly = 0x1021
init = 0xffff
[tap.out]
kind = "axi-stream"
clock = "bus"
format = "link"
[tap.in]
kind = "axi-stream"
clock = "bus"
format = "link"
[path.loop]
taps = ["out", "in"]
[[path.loop.stretch]]
drops = { counter = "lost", whole = false }
rewrites = ["link.status"]
level = "fill"
[path.away]
taps = ["out"]
far_end = "other:back"
[identity]
by = "fields"
fields = ["link.id"]
[event.taken]
wire = "taken"
value = "taken_id"
bits = 6
[event.returned]
wire = "returned"
value = "returned_id"
bits = 6
[event.lost]
wire = "drop"
value = "lost_id"
[counter.lost]
wire = "drop"
[counter.out_packets]
counts = "packets"
tap = "out"
[bank.fill]
wire = "fill"
bits = 8
[law.kept]
plus = ["out_packets"]
minus = ["lost", "fill"]
most = 64
[states.machine]
wire = "state"
names = ["idle", "busy", "off"]
after = { busy = ["idle"], off = ["idle", "busy"] }
[transactions.remote]
out = "out"
in = "in"
id = "id"
ids = 64
kind = "command"
requests = ["read", "write"]
posted = ["move"]
answers = ["answer"]
status = "status"
good = ["done"]
apart = { command = ["move"] }
taken = "taken"
returned = "returned"
refused = ["lost"]
[way.write]
[[way.write.phase]]
name = "A"
begin = "taken"
end = "lost"
[[way.write.phase]]
name = "B"
begin = "lost"
end = "returned"
"""
_INTEGERS = (0, 1, -1, 2, 7, 8, 9, 63, 64, 65, 512, 1000, 65_535, 1 << 20, (1 << 31) - 1, 1 << 32, 2_000_000_001,
             (1 << 63) - 1)  # fmt: skip
_TEXTS = ("", "none", "bus", "raw", "fields", "link", "words", "axi-stream", "fifo", "any", "present", "user-bit",
          "summary", "store-and-forward", "sequence", "watchdog", "parameter.depth", "é", "A b")  # fmt: skip


def seeds() -> Sequence[bytes]:
    """Return the small cards that ship, those of the tests of Verilog, and one of sequences."""
    small = [
        _ROOT / f"firmware-hooks/cards/{name}.toml"
        for name in ("ethernet-8", "liteeth", "switch-c")
    ]
    tested = [
        _ROOT / f"tests/rtl/card/cards/{name}.toml"
        for name in ("odd", "steps", "logs", "brief", "soc")
    ]
    return [*(path.read_bytes() for path in (*small, *tested)), _SEQUENCES]


def run(data: bytes) -> object:
    """Read a card file, and take what it means."""
    text = data.decode("utf-8", "replace")
    card = elaborate(parse_card(text), text)
    return len(card.taps), len(card.causes) > 8


def toml_text(tables: Mapping[str, Json]) -> str:
    """Return tables, and lists of tables, as a file of TOML."""
    return "\n".join(_lines(tables, ())) + "\n"


def _lines(table: Mapping[str, Json], path: tuple[str, ...]) -> Iterator[str]:
    plain = {
        key: value
        for key, value in table.items()
        if not (isinstance(value, dict) or _tables(value))
    }
    if path and (plain or not table):
        yield f"[{'.'.join(map(_key, path))}]"
    for key, value in plain.items():
        yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _lines(value, (*path, key))
        elif _tables(value):
            for one in value:
                yield f"[[{'.'.join(map(_key, (*path, key)))}]]"
                yield from (f"{_key(inner)} = {_value(said)}" for inner, said in one.items())


def _tables(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _key(key: str) -> str:
    return (
        key
        if key.isascii() and key.replace("_", "").replace("-", "").isalnum()
        else json.dumps(key)
    )


def _value(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(said)}" for key, said in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return (
        str(value) if isinstance(value, float) else json.dumps(value)
    )  # "nan" and "inf" are TOML's


@cache
def _tables_of(data: bytes) -> Json:
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return None


def changed(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return a file with one value or two changed, a key left out, or a table doubled; TOML in any case."""
    tables = json.loads(
        json.dumps(_tables_of(data) or _tables_of(rng.choice(_held())), default=str)
    )
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        holder, key = _somewhere(rng, tables)
        _CHANGES[int(rng.random() * len(_CHANGES))](rng, tables, holder, key)
    return toml_text(tables).encode("utf-8", "replace")


@cache
def _held() -> Sequence[bytes]:
    return seeds()


def _somewhere(rng: random.Random, tables: Json) -> tuple[Json, Any]:
    """Return a table or list, and a key or place in it; mostly deep, as most there is stands deep."""
    holder = tables
    while True:
        # Any other version is refused at once, and nothing behind it is looked at.
        keys = (
            [key for key in holder if key != "schema"]
            if isinstance(holder, dict)
            else range(len(holder))
        )
        key = rng.choice(keys) if keys else None
        inside = None if key is None else holder[key]
        if not (isinstance(inside, dict | list) and inside and rng.random() < 0.9):
            return holder, key
        holder = inside


def _another(rng: random.Random, tables: Json, holder: Json, key: Any) -> None:
    """Put another value of its kind in its place, one of those that stand elsewhere as often as not."""
    if key is None:
        return
    old = holder[key]
    if isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int):
        holder[key] = rng.choice((old + 1, old - 1, 2 * old, old // 2, *_INTEGERS))
    elif isinstance(old, str):
        names = [name for table in tables.values() if isinstance(table, dict) for name in table]
        holder[key] = rng.choice(names) if names and rng.random() < 0.5 else rng.choice(_TEXTS)
    elif isinstance(old, list) and old:
        old.append(rng.choice(old)) if rng.random() < 0.5 else old.pop(rng.randrange(len(old)))


def _of_another_kind(rng: random.Random, tables: Json, holder: Json, key: Any) -> None:
    if key is not None:
        holder[key] = rng.choice(
            (0, -1, True, "", "bus", [], {}, ["bus"], [1], 1.5, float("nan"), {"bits": 1})
        )


def _left_out(rng: random.Random, tables: Json, holder: Json, key: Any) -> None:
    if key is not None:
        del holder[key]


def _doubled(rng: random.Random, tables: Json, holder: Json, key: Any) -> None:
    """Give a table of one name another name beside it, as often as two dozen times."""
    tables_ = [table for table in tables.values() if isinstance(table, dict) and table]
    named = rng.choice(tables_) if tables_ else {}
    one = rng.choice(list(named)) if named else ""
    for number in range(rng.choice((1, 1, 2, 24))):
        named[f"{one[:24]}_{number}"] = json.loads(json.dumps(named[one])) if one else {}


def _given(rng: random.Random, tables: Json, holder: Json, key: Any) -> None:
    """Give a table a key that another has, with its value there."""
    other, its = _somewhere(rng, tables)
    if isinstance(holder, dict) and isinstance(other, dict) and its is not None:
        holder[its] = json.loads(json.dumps(other[its]))


_CHANGES: tuple[Callable[[random.Random, Json, Json, Any], None], ...] = (
    _another, _another, _another, _another, _left_out, _given, _doubled, _of_another_kind,
)  # fmt: skip
