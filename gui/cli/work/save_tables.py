"""Decoded tables as Parquet files: all of them, or none; nothing is replaced that was not named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.spec import parse_spec
from freezeframe.gui.export.formats import FORMATS
from freezeframe.gui.export.place import check_output, new_files
from freezeframe.gui.text import shell_path, shell_word

_write_table = code("freezeframe.capture.parquet:write_table")  # what only prints needs no Parquet


def check_place(
    output: Path, source: Path, specs: Sequence[str], *, force: bool, registry: Registry
) -> None:
    """Refuse a place before the work of decoding, as far as it can be known by then.

    Raises:
        InputError: a spec is wrong, the name is not one of Parquet, or the file may not be
            written there; see `check_output`.
    """
    form = output.suffix.lower().removeprefix(".")
    if form in FORMATS and form != "parquet":
        decoders = " ".join(f"-d {shell_word(spec)}" for spec in specs)
        raise InputError(
            f"-o {output}: decode writes Parquet; for {form}: freezeframe export "
            f"{shell_path(str(source))} {decoders} --to {form} -o {shell_path(str(output))}"
        )
    if form not in ("", "parquet", "pq"):
        raise InputError(
            f"-o {output}: decode writes Parquet, to a name in .parquet; freezeframe export writes {', '.join(FORMATS)}"
        )
    stacks = [parse_spec(spec, registry) for spec in specs]
    tables = sum(len(stack.steps[-1].decoder.produces) for stack in stacks)
    # With several tables, a file at `output` itself is not touched.
    check_output(output, source, force=force or tables > 1)


def places_of(output: Path, names: Sequence[str]) -> list[Path]:
    """Return the files of tables of these names: ``output`` for one, ``STEM.NAME.parquet`` beside it for several."""
    suffix = output.suffix or ".parquet"
    if len(names) == 1:
        return [output]
    return [output.with_name(f"{output.stem}.{name}{suffix}") for name in names]


def save_all(decoded: Sequence[Decoded], output: Path, source: Path, *, force: bool) -> list[Path]:
    """Write the tables: ``output`` for one, ``STEM.NAME.parquet`` beside it for several.

    Args:
        source: what was decoded; it is never replaced.
    Returns:
        The files, in the order of the tables.
    Raises:
        InputError: a file may not be written, or the disk is full; then none of them is there.
    """
    places = places_of(output, [name for name, _ in decoded])
    for place in places:
        check_output(place, source, force=force)
    with new_files(places, force=force) as temporary:
        for (_, table), path in zip(decoded, temporary, strict=True):
            _write_table(table, path)
    return places
