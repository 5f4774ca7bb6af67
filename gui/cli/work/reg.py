"""``freezeframe reg``: registers found by name, field, pattern or address; read, written and put into words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.capture.errors import BusError, InputError
from freezeframe.capture.folder.opening import open_capture
from freezeframe.capture.folder.samples import SampleFolder
from freezeframe.capture.registers.access import Recorder
from freezeframe.capture.registers.register_map import RegisterMap, elements, label
from freezeframe.gui.cli.output import emit_json, table
from freezeframe.gui.cli.reading import salvaged
from freezeframe.gui.cli.work.session import open_recorders
from freezeframe.gui.text import printable

_NAME = re.compile(r"(?P<name>[A-Za-z_][\w.]*)(?P<indices>(?:\[\d{1,6}\])*)(?:\.(?P<field>\w+))?")
_KEYED = {"ctl.arm": "arm", "ctl.freeze": "freeze", "id.arm": "arm"}
"""Registers that take a key, and the verb that knows it."""


class _Place(NamedTuple):
    """A register of a device that was asked for; ``field`` is None for all of it."""

    name: str
    indices: tuple[int, ...]
    field: str | None = None

    @property
    def label(self) -> str:
        return label(self.name, self.indices) + (f".{self.field}" if self.field else "")


def show_registers(
    target: str,
    asked: Sequence[str],
    device: str | None,
    log: Path | None,
    *,
    act: bool,
    salvage: bool,
    json: bool,
) -> None:
    """Print registers, and what became of those that were written.

    Raises:
        InputError: no such device, register or field, or the register cannot be written so.
    """
    path = Path(target.removeprefix("file:"))
    if path.exists():
        _show_capture(path, salvaged(path, salvage), asked, device, json=json)
        return
    if salvage:
        raise InputError(f"{target}: is no capture, so there is nothing to salvage")
    writes = [text for text in asked if "=" in text]
    for text in writes:
        _value_asked(text)  # what is no value on any card need not wait for one
    with open_recorders(target, log) as devices:
        chosen = [one for one in devices if device in (None, one.name)]
        _check_device(target, device, [one.name for one in devices])
        if writes and len(chosen) > 1:
            raise InputError(
                f"{target}: has devices {', '.join(one.name for one in chosen)}; --device says which is written"
            )
        # All is looked up before anything is written: half of a list of writes is worse than none.
        planned = [_planned(one, text, act=act) for one in chosen for text in writes]
        wanted = [text for text in asked if "=" not in text]
        found = [(one, _places(one.map, wanted, dump=not asked)) for one in chosen]
        rows: list[dict[str, Any]] = []
        for one, place, value in planned:
            rows.append(_written(one, place, value))
        for one, places in found:
            rows += _read(one, places)
    _print(rows, json=json)


def _read(device: Recorder, places: Sequence[_Place]) -> Iterator[dict[str, Any]]:
    """Read registers in one call; of a card that refuses one now, each alone, and that one has no value."""
    try:
        words: list[int | None] = [*device.read_many([(p.name, *p.indices) for p in places])]
    except BusError:
        words = [_read_alone(device, place) for place in places]
        if not any(word is not None for word in words):
            raise
    for place, word in zip(places, words, strict=True):
        row = _row(device.name, device.map, place, word or 0)
        yield row if word is not None else {**row, "value": None, "fields": {}, "refused": True}


def _read_alone(device: Recorder, place: _Place) -> int | None:
    try:
        return device.read(place.name, *place.indices)
    except BusError:
        return None


def _show_capture(
    path: Path, whole: Path, asked: Sequence[str], device: str | None, *, json: bool
) -> None:
    folder = open_capture(whole)
    if isinstance(folder, SampleFolder):
        raise InputError(f"{path}: holds samples of a logic analyzer, and no registers")
    if any("=" in text for text in asked):
        raise InputError(
            f"{path}: is a recording, which is only read; name the card to write to it"
        )
    _check_device(str(path), device, [one.name for one in folder.devices])
    rows = []
    for one in folder.devices:
        if device not in (None, one.name):
            continue
        registers = one.registers
        for place in _places(registers.map, asked, dump=not asked):
            word = registers.value(place.name, *place.indices)
            if word is not None:
                rows.append(_row(one.name, registers.map, place, word))
            elif asked and not _is_pattern(asked):
                rows.append(
                    {**_row(one.name, registers.map, place, 0), "value": None, "fields": {}}
                )
    _print(rows, json=json)


def _is_pattern(asked: Sequence[str]) -> bool:
    return any("*" in text or "?" in text for text in asked)


def _check_device(where: str, device: str | None, known: Sequence[str]) -> None:
    if device is not None and device not in known:
        raise InputError(f"{where}: no device {device!r}; it has {', '.join(known)}")


def _places(map: RegisterMap, asked: Sequence[str], *, dump: bool) -> list[_Place]:
    """Return the registers that were asked for; all that are safe to read for a dump."""
    if dump:
        return [
            _Place(info.name, indices)
            for info in map.registers
            if "r" in info.access and not info.skip_dump
            for indices in elements(info)
        ]
    return [place for text in asked for place in _found(map, text)]


def _found(map: RegisterMap, text: str) -> Iterator[_Place]:
    if "*" in text or "?" in text:
        matching = [
            _Place(info.name, indices)
            for info in map.registers
            if "r" in info.access
            for indices in elements(info)
            if fnmatchcase(info.name, text) or fnmatchcase(label(info.name, indices), text)
        ]
        if not matching:
            raise InputError(f"{text}: no register that can be read has such a name")
        yield from matching
        return
    place = _place(map, text)
    if "r" not in map.register(place.name).access:
        raise InputError(f"{text}: can only be written: {map.register(place.name).doc}")
    info = map.register(place.name)
    if info.dims and not place.indices:
        yield from (_Place(place.name, indices, place.field) for indices in elements(info))
        return
    yield place


def _place(map: RegisterMap, text: str) -> _Place:
    """Return the register or field of a name or an address.

    Raises:
        InputError: there is none; the nearest is offered.
    """
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", text):
        address = int(text, 16)
        for info in map.registers:
            for indices in elements(info):
                if map.offset(info.name, *indices) == address:
                    return _Place(info.name, indices)
        there = map.describe(address)
        what = "" if there.startswith("nothing") else f" ({there} stands there)"
        raise InputError(
            f"{text}: no register has this address{what}; without a name all are listed"
        )
    match = _NAME.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r}: is no name of a register; write ctl.state or memory.stored[2]")
    name, field = match["name"], match["field"]
    indices = tuple(int(index) for index in re.findall(r"\d+", match["indices"]))
    if field is None and not map.has(name) and map.has(name.rpartition(".")[0]):
        name, _, field = name.rpartition(".")
    try:
        info = map.register(name)
        if field is not None:
            map.field(name, field)
        if indices or not info.dims:
            map.offset(name, *indices)
    except ValueError as error:
        below = any(info.name.startswith(f"{text}.") for info in map.registers)
        hint = f"; '{text}.*' is all below it" if below else ""
        more = "" if hint or "did you mean" in str(error) else "; without a name all are listed"
        raise InputError(f"{error}{hint}{more}") from None
    return _Place(name, indices, field)


def _value_asked(text: str) -> tuple[str, int]:
    """Return name and value of ``NAME=VALUE``.

    Raises:
        InputError: the value is no number of 0 to 32 bits, whatever the register is; or there is no name.
    """
    name, _, said = text.partition("=")
    try:
        value = int(said, 0)
    except ValueError:
        raise InputError(f"{text}: {said!r} is no number; write 64, 0x40 or 0b1000000") from None
    if not name:
        raise InputError(f"{text}: no register is named; write NAME=VALUE")
    if not 0 <= value < 1 << 32:
        raise InputError(f"{text}: no register has more than 32 bits (0..0xffffffff)")
    return name, value


def _planned(device: Recorder, text: str, *, act: bool) -> tuple[Recorder, _Place, int]:
    """Return a write that was asked for, checked against the map."""
    name, value = _value_asked(text)
    place = _place(device.map, name)
    info = device.map.register(place.name)
    if place.name in _KEYED:
        verb = _KEYED[place.name]
        raise InputError(
            f"{place.label}: takes a key, and acts on the recording: freezeframe {verb} writes it"
        )
    if "w" not in info.access:
        raise InputError(f"{place.label}: can only be read: {info.doc}")
    if info.dims and not place.indices:
        raise InputError(f"{place.label}: is an array; say which, for instance {place.name}[0]")
    if info.pulse and not act:
        raise InputError(
            f"{place.label}: acts when it is written ({info.doc or 'no more is known'}); --act does it"
        )
    bits = 32 if place.field is None else device.map.field(place.name, place.field).width
    if not 0 <= value < 1 << bits:
        raise InputError(f"{text}: does not fit {bits} bits (0..{(1 << bits) - 1:#x})")
    if place.field is not None and (info.access != "rw" or info.pulse):
        raise InputError(
            f"{place.label}: cannot be read back, so its other fields are not known; write {place.name}=WORD"
        )
    return device, place, value


def _written(device: Recorder, place: _Place, value: int) -> dict[str, Any]:
    """Write, and return the register as it was and is."""
    readable = "r" in device.map.register(place.name).access
    before = device.read(place.name, *place.indices) if readable else None
    if place.field is None:
        device.write(place.name, value, *place.indices)
    else:
        device.modify(place.name, *place.indices, **{place.field: value})
    after = device.read(place.name, *place.indices) if readable else None
    row = _row(device.name, device.map, place, value if after is None else after)
    was = None if before is None else _cut(device.map, place, before)
    return {**row, "was": was, "written": value, "readable": readable}


def _cut(map: RegisterMap, place: _Place, word: int) -> int:
    if place.field is None:
        return word
    info = map.field(place.name, place.field)
    return (word & info.mask) >> info.lsb


def _row(device: str, map: RegisterMap, place: _Place, word: int) -> dict[str, Any]:
    info = map.register(place.name)
    fields = {f.name: (word & f.mask) >> f.lsb for f in info.fields} if place.field is None else {}
    if list(fields) == ["value"] or len(fields) == 1:
        fields = {}
    return {
        "device": device,
        "register": place.label,
        "address": map.offset(place.name, *place.indices),
        "access": info.access,
        "value": _cut(map, place, word),
        "fields": fields,
        "doc": info.doc,
    }


def _print(rows: Sequence[Mapping[str, Any]], *, json: bool) -> None:
    if json:
        emit_json({"registers": [dict(row) for row in rows]})
        return
    shown = [
        (
            row["device"],
            row["register"],
            f"{row['address']:#08x}",
            _hex(row),
            "" if row["value"] is None else f"{row['value']:,}",
            _words(row),
        )
        for row in rows
    ]
    print(table(("device", "register", "address", "hex", "value", "fields"), shown, right=(4,)))


def _hex(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "refused now" if row.get("refused") else "not recorded"
    return f"{row['value']:#010x}"


def _words(row: Mapping[str, Any]) -> str:
    fields = ", ".join(f"{name} {value:,}" for name, value in row["fields"].items())
    if "written" not in row:
        return fields
    if not row["readable"]:
        return "written; it cannot be read back"
    became = (
        ""
        if row["value"] == row["written"]
        else f"; {row['written']:#x} was written, and it reads otherwise"
    )
    return printable(f"was {row['was']:#x}{became}")
