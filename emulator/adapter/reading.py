"""Reading of profiles of stages: formulas, settings of the command line, every mistake with its file, line and key."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from freezeframe.capture.card.reading import checked
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import meant, no_such
from freezeframe.emulator.adapter.deadlock import deadlocks
from freezeframe.emulator.adapter.formula import evaluated
from freezeframe.emulator.adapter.references import problems_of
from freezeframe.emulator.adapter.tables import PARAMETER, Adapter
from freezeframe.emulator.profile_files import ProfileFile, named_card, profile_file, profile_names

Where = tuple[str | int, ...]
_SHOWN = 20


class ProfileError(CardError):
    """A profile that cannot be used; each problem is a line of its own."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a profile that was fitted to a capture says of that, ``[fit]``.

    Attributes:
        intervals: the 90 % interval of a parameter, low and high.
        misfit: by what share the fitted profile misses the latency of its own capture.
    """

    intervals: Mapping[str, tuple[float, float]]
    values: Mapping[str, float]
    misfit: float


@dataclass(frozen=True, slots=True)
class Described:
    """An adapter as a profile describes it, checked, and the file it comes from."""

    file: ProfileFile
    adapter: Adapter
    fit: Fitted | None = None


def load_adapter(
    name: str, settings: Mapping[str, Any] | None = None, swept: Collection[str] = ()
) -> Described:
    """Read a profile of stages, by its name or from a path that ends in ``.toml``.

    Args:
        settings: values in place of the profile's, by ``table.name.key``, or by the name of a parameter.
    Raises:
        InputError: no such profile, or what it says is wrong: a line for each, with file, line and key.
    """
    file = profile_file(name)
    if not file.by_stages:
        raise InputError(
            f"profile {name} is a card down to its cycles; one of stages has [stage.NAME]: "
            + ", ".join(profile_names(by_stages=True))
        )
    return described(file, settings or {}, swept)


def described(
    file: ProfileFile, settings: Mapping[str, Any], swept: Collection[str] = ()
) -> Described:
    """Return what a file describes with some of its values set.

    Args:
        swept: the keys that were given as ``--sweep``, for a message.
    Raises:
        InputError: as `load_adapter`.
    """
    named_card(file)
    said = copy.deepcopy(file.said)
    fit = said.pop("fit", None)
    problems: list[tuple[Where, str]] = []
    given = {key: f"{'--sweep' if key in swept else '--set'} {key}" for key in settings}
    set_here = {_place_of(said, key, given[key]): key for key in settings}
    for path, key in set_here.items():
        _put(said, path, given[key], settings[key])
    numbers: dict[str, float] = {}
    parameters = said.pop("parameter", {})
    broken = _no_numbers(parameters)
    followed = set(broken)
    problems += _evaluate(parameters, numbers, ("parameter",), followed, own=True)
    problems += _parameters(parameters, followed - broken)
    problems += _fit(fit, numbers)
    for table in ("resource", "pool", "stage", "flow", "run"):
        problems += _evaluate(said.get(table), numbers, (table,), followed)
    if not problems:
        adapter, found = checked(said, Adapter, _contradictions)
        problems = [(problem.path, problem.text) for problem in found]
        if adapter is not None:
            return Described(file, adapter, _fitted(fit, numbers))
    typed = {path: f"{given[key]}={_typed(settings[key])}" for path, key in set_here.items()}
    raise ProfileError("\n".join(_lines(file, typed, problems)))


def _contradictions(adapter: Adapter) -> Iterator[tuple[Where, str]]:
    wrong = list(problems_of(adapter))
    yield from wrong
    if not wrong:
        yield from deadlocks(adapter)


def _no_numbers(table: Any) -> set[str]:
    """Return the parameters that are neither a number nor a formula."""
    if not isinstance(table, dict):
        return set()
    return {
        name
        for name, value in table.items()
        if not _is_number(value) and not (isinstance(value, str) and value.startswith("="))
    }


def _parameters(table: Any, told: Set[str]) -> Iterator[tuple[Where, str]]:
    """Look at the parameters but those that are no number because another one, which is told, is none."""
    if not isinstance(table, dict):
        yield ("parameter",), f"parameter: {table!r} is not a table of numbers"
        return
    for name, value in table.items():
        if not re.fullmatch(PARAMETER, name):
            what = "a name is letters, digits and _, a letter first, at most 32"
            yield ("parameter", name), f"parameter {name!r}: {what}"
        if name not in told and not _is_number(value):
            yield ("parameter", name), f"parameter.{name}: {value!r} is not a number"


def _fit(table: Any, numbers: Mapping[str, float]) -> Iterator[tuple[Where, str]]:
    """Look at the table of a fit: intervals of parameters, and how well it fits."""
    if table is None:
        return
    intervals = table.get("interval") if isinstance(table, dict) else None
    misfit = table.get("misfit") if isinstance(table, dict) else None
    if (
        not isinstance(intervals, dict)
        or not _is_number(misfit)
        or set(table) - {"interval", "misfit"}
    ):
        yield ("fit",), "fit: has misfit, a number, and [fit.interval], and nothing else"
        return
    for name, ends in intervals.items():
        if name not in numbers:
            yield ("fit", "interval", name), f"fit.interval.{name}: there is no such parameter"
        elif not (
            isinstance(ends, list)
            and len(ends) == 2
            and all(map(_is_number, ends))
            and ends[0] <= ends[1]
        ):
            yield ("fit", "interval", name), f"fit.interval.{name}: {ends!r} is not [low, high]"


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _fitted(table: Any, numbers: Mapping[str, float]) -> Fitted | None:
    if table is None:
        return None
    intervals = {name: (float(low), float(high)) for name, (low, high) in table["interval"].items()}
    return Fitted(intervals, {name: numbers[name] for name in intervals}, float(table["misfit"]))


def _place_of(said: Mapping[str, Any], key: str, given: str) -> Where:
    """Return the path of a key of the command line; a bare name is a parameter's, or one of [run]."""
    if "." in key:
        return tuple(key.split("."))
    if key in said.get("parameter", {}):
        return ("parameter", key)
    if key in ("messages", "seed"):
        return ("run", key)
    known = [*said.get("parameter", {}), "messages", "seed"]
    hint = meant(key, known)
    raise InputError(f"{given}: there is no such parameter; {hint} (or give table.name.key)")


def _put(said: dict[str, Any], path: Where, given: str, value: Any) -> None:
    table = said
    for step in path[:-1]:
        if step == "run" and "run" not in said:
            said["run"] = {}
        inner = table.get(str(step))
        if not isinstance(inner, dict):
            raise InputError(f"{given}: {no_such('table', str(step), table)}")
        table = inner
    table[str(path[-1])] = value


def _evaluate(
    table: Any,
    parameters: dict[str, float],
    path: Where,
    broken: set[str],
    *,
    own: bool = False,
) -> Iterator[tuple[Where, str]]:
    """Put what formulas come to in their places; with ``own`` each value is a parameter of those behind it.

    What cannot be evaluated because a parameter is ``broken`` is not told, for that parameter is; with ``own`` it is
    broken, too.
    """
    if not isinstance(table, dict):
        return
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _evaluate(value, parameters, (*path, key), broken)
        elif isinstance(value, str) and value.startswith("="):
            try:
                table[key] = evaluated(value[1:], parameters)
            except ValueError as error:
                if not broken & _names(value):
                    yield (*path, key), f"{'.'.join(map(str, (*path, key)))}: {error}"
                elif own:
                    broken.add(key)
        if own and isinstance(table[key], (int, float)):
            parameters[key] = table[key]


def _names(formula: Any) -> set[str]:
    """Return the words of a formula, parameters among them; none of what is no formula."""
    is_formula = isinstance(formula, str) and formula.startswith("=")
    return set(re.findall(r"[A-Za-z_]\w*", formula)) if is_formula else set()


def _typed(value: Any) -> str:
    """Return a value as it is typed on the command line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"[{' '.join(map(_typed, value))}]" if isinstance(value, list) else str(value)


def _lines(
    file: ProfileFile, typed: Mapping[Where, str], problems: list[tuple[Where, str]]
) -> list[str]:
    lines = []
    for path, text in problems:
        if path in typed:
            lines.append(f"{typed[path]}: {text}")
            continue
        causes = [("parameter", name) for name in sorted(_behind(file.said, path))]
        by = [f"{typed[cause]}: " for cause in causes if cause in typed]
        # A file that gives a parameter of the one that it extends is wrong, not that one.
        own = [] if by else [cause for cause in causes if _nearer(file, cause, path)]
        by += [f"{file.place(cause)}: {'.'.join(cause)}: " for cause in own]
        lines.append(f"{''.join(by)}{file.place(path)}: {text}")
    lines = list(dict.fromkeys(lines))
    more = [f"{file.name}: and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return lines[:_SHOWN] + more


def _behind(said: Mapping[str, Any], path: Where) -> set[str]:
    """Return the parameters that a key's formula, as the profile has it, comes to."""
    value: Any = said
    for step in path:
        value = value.get(str(step)) if isinstance(value, dict) else None
    parameters = said.get("parameter")
    parameters = parameters if isinstance(parameters, dict) else {}
    names, new = set[str](), _names(value)
    while new:
        names |= new
        new = {word for name in new for word in _names(parameters.get(name))} - names
    return names & set(parameters)


def _nearer(file: ProfileFile, cause: Where, path: Where) -> bool:
    return file.layers.place(cause)[0] < file.layers.place(path)[0]
