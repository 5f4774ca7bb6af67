"""``freezeframe decoders``: declarations of decoders as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import Any

from freezeframe.decoders.contract import Channel, Decoder, Option, Output
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.registry import BrokenDecoder
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.text import printable

_DEEPER = " " * 8
_SHOWN = 4  # numbered channels that are listed one by one


def list_decoders(name: str | None, plugins: Sequence[Path], *, long: bool, json: bool) -> None:
    """Print all decoders in a line or two each, or all of one.

    Raises:
        InputError: there is no decoder of that name, or a plug-in cannot be used.
    """
    registry = load_with_plugins(plugins)
    chosen = list(registry.decoders.values()) if name is None else [registry.find(name)]
    broken = registry.broken if name is None else ()
    if json:
        emit_json(
            {
                "decoders": [_document(decoder) for decoder in chosen],
                "broken": [{"name": b.name, "origin": b.origin, "error": b.error} for b in broken],
            }
        )
        return
    if name is not None or long:
        print("\n\n".join([*map(_text, chosen), *map(_broken_text, broken)]))
        return
    of_sigrok = [decoder for decoder in chosen if decoder.id.startswith("srd-")]
    own = [decoder for decoder in chosen if decoder not in of_sigrok]
    print("\n".join(["# native", *map(_brief, own), *map(_broken_text, broken)]))
    if of_sigrok:
        print("\n".join(["\n# of sigrok, by libsigrokdecode", *map(_brief, of_sigrok)]))
    print("\n'freezeframe decoders NAME' tells what its channels, options and tables are.")


def _document(decoder: Decoder) -> dict[str, Any]:
    return {
        "id": decoder.id,
        "name": decoder.name,
        "doc": decoder.doc,
        "consumes": decoder.consumes,
        "produces": [
            {"kind": out.kind, "doc": out.doc, "columns": [list(c) for c in _columns(out)]}
            for out in decoder.produces
        ],
        "sigrok": decoder.sigrok,
        "channels": [asdict(channel) for channel in decoder.channels],
        "options": [
            {
                "id": option.id,
                "type": option.type_name,
                "default": option.default,
                "choices": list(option.choices),
                "minimum": option.minimum,
                "maximum": option.maximum,
                "unit": option.unit,
                "doc": option.doc,
                "aliases": list(option.names[1:]),
            }
            for option in decoder.options
        ],
    }


def _brief(decoder: Decoder) -> str:
    """Return two lines: what it is, and what it takes."""
    takes = [f"from {decoder.consumes}"]
    channels = [_ids(run, "?" if run[0].optional else "") for run in _runs(decoder.channels)]
    for what, ids in (("channels", channels), ("options", [o.id for o in decoder.options])):
        if ids:
            takes.append(f"{what} {', '.join(ids)}")
    return printable(f"{decoder.id}  {decoder.doc}") + "\n    " + printable("; ".join(takes))


def _text(decoder: Decoder) -> str:
    lines = [f"{decoder.id}  {decoder.name}", f"    {decoder.doc}"]
    lines.append(f"    from: {decoder.consumes}")
    for out in decoder.produces:
        lines.append(f"    makes: {out.kind}  {out.doc}".rstrip())
        columns = ", ".join(f"{name} {kind}" for name, kind in _columns(out))
        lines += wrap(columns, 96, initial_indent=_DEEPER, subsequent_indent=_DEEPER)
    if decoder.sigrok:
        lines.append(f"    makes: {decoder.sigrok}  objects for decoders of sigrok on top")
    for run in _runs(decoder.channels):
        optional = " (optional)" if run[0].optional else ""
        doc = run[0].doc if run[0].doc == run[-1].doc else f"{run[0].doc} .. {run[-1].doc}"
        also = _also(run[0].aliases) if len(run) == 1 else ""
        lines.append(f"    channel {_ids(run)}{optional}  {doc}{also}")
    lines += [f"    option {_option_text(option)}" for option in decoder.options]
    return "\n".join(printable(line) for line in lines)


def _runs(channels: Sequence[Channel]) -> list[list[Channel]]:
    """Return the channels one by one, but many that are numbered on (``ad0``, ``ad1``...) as one."""
    runs: list[list[Channel]] = []
    for channel in channels:
        last = runs[-1][-1] if runs else None
        if last is not None and last.optional == channel.optional and _follows(last, channel):
            runs[-1].append(channel)
        else:
            runs.append([channel])
    return [
        part for run in runs for part in ([run] if len(run) > _SHOWN else [[each] for each in run])
    ]


def _follows(last: Channel, channel: Channel) -> bool:
    before, after = (re.fullmatch(r"(.*?)(\d+)", each.id) for each in (last, channel))
    if before is None or after is None:
        return False
    return before[1] == after[1] and int(before[2]) + 1 == int(after[2])


def _ids(run: Sequence[Channel], mark: str = "") -> str:
    return f"{run[0].id}{mark}" + (f"..{run[-1].id}{mark}" if len(run) > 1 else "")


def _columns(output: Output) -> list[tuple[str, str]]:
    """Return name and type of each column, a text as such however it is stored."""
    plain = {"dictionary<values=string, indices=int32, ordered=0>": "text", "string": "text"}
    return [(f.name, plain.get(str(f.type), str(f.type))) for f in output.schema()]


def _option_text(option: Option) -> str:
    default = option.default
    if isinstance(default, bool):
        default = "yes" if default else "no"
    unit = f" {option.unit}" if option.unit else ""
    return f"{option.id}={default}{unit}  {option.doc} ({option.allowed}){_also(option.names[1:])}"


def _also(names: Sequence[str]) -> str:
    return f"; also {', '.join(names)}" if names else ""


def _broken_text(broken: BrokenDecoder) -> str:
    return printable(f"{broken.name}  does not load: {broken.error} ({broken.origin})")
