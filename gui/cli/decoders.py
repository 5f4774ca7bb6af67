"""``freezeframe decoders``: what can be decoded, with channels, options and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from freezeframe.gui.cli.options import JsonOption
from freezeframe.gui.cli.output import emit_json, printable

if TYPE_CHECKING:
    from freezeframe.decoders.contract import Decoder, Option
    from freezeframe.decoders.registry import BrokenDecoder

__all__ = ["run"]

NameArgument = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="Tell all of this decoder.", show_default=False),
]


def run(name: NameArgument = None, json: JsonOption = False) -> None:
    """List the decoders with their channels and options; with a name, tell all of that one.

    A decoder of another package that does not load is listed with its error.

    \b
    Examples:
      freezeframe decoders
      freezeframe decoders mdio --json
    """
    from freezeframe.decoders.registry import load_decoders

    registry = load_decoders()
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
    if name is not None:
        print(_text(chosen[0]))
        return
    print("\n".join([*map(_brief, chosen), *map(_broken_text, broken)]))
    print("\n'freezeframe decoders NAME' tells what its channels, options and tables are.")


def _document(decoder: Decoder) -> dict[str, Any]:
    return {
        "id": decoder.id,
        "name": decoder.name,
        "doc": decoder.doc,
        "consumes": decoder.consumes,
        "produces": [{"kind": out.kind, "doc": out.doc} for out in decoder.produces],
        "channels": [
            {"id": channel.id, "doc": channel.doc, "optional": channel.optional}
            for channel in decoder.channels
        ],
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
            }
            for option in decoder.options
        ],
    }


def _brief(decoder: Decoder) -> str:
    """Return two lines: what it is, and what it takes."""
    takes = [f"from {decoder.consumes}"]
    channels = [c.id + ("?" if c.optional else "") for c in decoder.channels]
    for what, ids in (("channels", channels), ("options", [o.id for o in decoder.options])):
        if ids:
            takes.append(f"{what} {', '.join(ids)}")
    return printable(f"{decoder.id}  {decoder.doc}") + "\n    " + printable("; ".join(takes))


def _text(decoder: Decoder) -> str:
    lines = [f"{decoder.id}  {decoder.name}", f"    {decoder.doc}"]
    lines.append(f"    from: {decoder.consumes}")
    lines += [f"    makes: {out.kind}  {out.doc}".rstrip() for out in decoder.produces]
    for channel in decoder.channels:
        optional = " (optional)" if channel.optional else ""
        lines.append(f"    channel {channel.id}{optional}  {channel.doc}")
    lines += [f"    option {_option_text(option)}" for option in decoder.options]
    return "\n".join(printable(line) for line in lines)


def _option_text(option: Option) -> str:
    default = option.default
    if isinstance(default, bool):
        default = "yes" if default else "no"
    unit = f" {option.unit}" if option.unit else ""
    return f"{option.id}={default}{unit}  {option.doc} ({option.allowed})"


def _broken_text(broken: BrokenDecoder) -> str:
    return printable(f"{broken.name}  does not load: {broken.error} ({broken.origin})")
