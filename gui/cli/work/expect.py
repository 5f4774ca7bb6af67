"""``freezeframe expect``: a capture decoded, each rule put to its tables, the verdicts printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from freezeframe.analyzers.expectations.judge import Outcome, judge
from freezeframe.analyzers.expectations.rules import read_rules
from freezeframe.capture.errors import InputError
from freezeframe.capture.junit import Case, junit_xml
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import decode_file
from freezeframe.gui.cli.compiling import compile_notice
from freezeframe.gui.cli.output import emit_json, progress_bar
from freezeframe.gui.cli.reading import Reading
from freezeframe.gui.cli.work.events import texts_by_name
from freezeframe.gui.cli.work.reading import print_notes, samplerate_hz, source_choice
from freezeframe.gui.export.place import check_output, new_files
from freezeframe.gui.text import printable


def expect(
    file: Path,
    rules_file: Path,
    specs: Sequence[str],
    reading: Reading,
    junit: Path | None,
    plugins: Sequence[Path],
    *,
    force: bool,
    json: bool,
) -> bool:
    """Judge all rules and print what holds; return whether all do.

    Raises:
        InputError: the file or the rules cannot be used, or a rule does not fit the tables.
    """
    said = read_rules(rules_file)
    chosen = tuple(specs) or said.decode
    if not chosen:
        raise InputError(f"{rules_file}: names no decoders; decode = ['...'], or -d here")
    if junit is not None:
        check_output(junit, file, force=force)
    notes: list[str] = []
    registry = load_with_plugins(plugins)
    with compile_notice(), progress_bar("decode", "read") as update:
        tables = decode_file(
            file,
            chosen,
            max_samples=reading.max_samples,
            samplerate_hz=samplerate_hz(reading),
            progress=lambda done, total: update(done, total, ""),
            registry=registry,
            source=source_choice(reading, notes.append),
        )
    print_notes(notes)
    try:
        outcomes = [judge(rule, tables) for rule in said.rules]
    except InputError as error:
        raise InputError(f"{rules_file}: {error}") from None
    print_notes([slip for outcome in outcomes for slip in outcome.never])
    if junit is not None:
        with new_files([junit], force=force) as (place,):
            place.write_bytes(
                junit_xml(f"{file} {rules_file}", [_case(o, registry) for o in outcomes])
            )
    broken = [outcome for outcome in outcomes if not outcome.holds]
    if json:
        emit_json(_document(file, rules_file, outcomes, registry))
    else:
        print(
            printable(f"{file}: {len(outcomes) - len(broken)} of {len(outcomes)} expectations hold")
        )
        for outcome in outcomes:
            print(
                printable(
                    f"{'ok    ' if outcome.holds else 'FAILED'}  {outcome.rule.name}: {outcome.seen}"
                )
            )
            if not outcome.holds and outcome.values is not None:
                print(printable(f"        {_row_text(outcome, registry)}"))
    return not broken


def _row_text(outcome: Outcome, registry: Registry) -> str:
    """Return the row that breaks a rule as `decode` prints it, with its number."""
    values = outcome.values or {}
    at = f" at {format_ps(values['t_ps'])}" if "t_ps" in values else ""
    return f"row {outcome.row}{at}: {texts_by_name(outcome.table, registry)(values)}"


def _case(outcome: Outcome, registry: Registry) -> Case:
    kind = "passed" if outcome.holds else "failure"
    row = "" if outcome.values is None else _row_text(outcome, registry)
    return Case(outcome.table, outcome.rule.name, kind, outcome.seen, row)


def _document(
    file: Path, rules_file: Path, outcomes: Sequence[Outcome], registry: Registry
) -> dict[str, object]:
    return {
        "file": str(file),
        "rules": str(rules_file),
        "holds": all(outcome.holds for outcome in outcomes),
        "expectations": [
            {
                "name": outcome.rule.name,
                "table": outcome.table,
                "holds": outcome.holds,
                "seen": outcome.seen,
                "row": outcome.row,
                "never": list(outcome.never),
                "text": None if outcome.values is None else _row_text(outcome, registry),
            }
            for outcome in outcomes
        ],
    }
