"""What a decoder is: inputs, outputs, channels, options as data, and one function over columns.

The command line's help, a desktop's panel and the docs are made from a `Decoder` without running
it. Importing this module, or one that declares a decoder, must stay cheap: a declaration names its
code by a string (`freezeframe.capture.code`), and the code's module imports numba and pyarrow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from freezeframe.capture.errors import InputError

EDGES = "edges"  # input: freezeframe.capture.files.edges.Edges, bit i = channel i as declared
CAPTURE = "capture"  # input: freezeframe.capture.folder.CaptureFolder, handed over whole
PACKETS = "packets"  # input: freezeframe.capture.packets.block.PacketBlock

OptionValue = bool | int | float | str
_Value = TypeVar("_Value", bool, int, float, str)

_ID = re.compile(r"[a-z][a-z0-9_-]*")
_DECODER_ID = re.compile(r"[0-9]*[a-z][a-z0-9_-]*")  # as in 8b10b
_KINDS = {"bool": "yes or no", "int": "a whole number", "float": "a number", "str": "any text"}
_WORDS_FOR_BOOL = {
    **dict.fromkeys(("yes", "true", "on", "1"), True),
    **dict.fromkeys(("no", "false", "off", "0"), False),
}


class Texts(NamedTuple):
    """One row in words, for a narrow, a normal and a wide place."""

    short: str
    normal: str
    long: str


@dataclass(frozen=True, slots=True)
class Channel:
    """A signal that a decoder of edges needs; the probe of the same name unless the user says.

    ``aliases`` are other names that people give to it: those of its probe, where none has the
    channel's own, and of the channel itself in a spec. Case, marks (``CS#``) and the decoder's name
    in front (``SPI_CS``) need none (`channel_names`).
    """

    id: str
    doc: str
    optional: bool = False
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_id("channel", self.id)


@dataclass(frozen=True, slots=True)
class Option:
    """A setting. Its type is that of ``default``; ``minimum`` and ``maximum`` are allowed
    values.

    ``aliases`` are other names of it, such as sigrok's. ``bits`` are names that others have for single
    bits of a number, the lowest last: sigrok says ``cpol`` and ``cpha`` for a mode.
    """

    id: str
    default: OptionValue
    doc: str
    choices: tuple[OptionValue, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""
    aliases: tuple[str, ...] = ()
    bits: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_id("option", self.id)
        if any(type(choice) is not type(self.default) for choice in self.choices):
            raise ValueError(
                f"option {self.id}: choices {self.choices} are not all {self.type_name}"
            )
        problem = self._problem(self.default)
        if problem:
            raise ValueError(f"option {self.id}: default {self.default!r} {problem}")

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be called in a spec, its own name first."""
        return (self.id, *self.aliases, *self.bits)

    @property
    def type_name(self) -> str:
        return type(self.default).__name__

    @property
    def allowed(self) -> str:
        """The allowed values as help texts show them: ``auto, 22, 45`` or ``0..32``."""
        if self.choices:
            return ", ".join(_shown(choice) for choice in self.choices)
        if isinstance(self.default, bool):
            return "yes, no"
        if self.minimum is not None or self.maximum is not None:
            low = "" if self.minimum is None else str(self.minimum)
            high = "" if self.maximum is None else str(self.maximum)
            return f"{low}..{high}"
        return _KINDS[self.type_name]

    def parse(self, text: str) -> OptionValue:
        """Return the value that ``text`` stands for.

        Raises:
            InputError: ``text`` is not of this type, not a choice, or out of range.
        """
        value = self._converted(text.strip())
        if value is None:
            raise InputError(
                f"option {self.id}={text}: not {_KINDS[self.type_name]}; allowed: {self.allowed}"
            )
        return self.check(value)

    def check(self, value: OptionValue) -> OptionValue:
        """Return ``value`` when it is allowed.

        Raises:
            InputError: it is not.
        """
        problem = self._problem(value)
        if problem:
            raise InputError(
                f"option {self.id}={_shown(value)}: {problem}; allowed: {self.allowed}"
                + (f" {self.unit}" if self.unit else "")
            )
        return value

    def _converted(self, text: str) -> OptionValue | None:
        if isinstance(self.default, bool):
            return _WORDS_FOR_BOOL.get(text.lower())
        if isinstance(self.default, str):
            return text
        try:
            return int(text, 0) if isinstance(self.default, int) else float(text)
        except ValueError:
            return None

    def _problem(self, value: OptionValue) -> str:
        if type(value) is not type(self.default):
            return f"is {type(value).__name__}, not {self.type_name}"
        if self.choices and value not in self.choices:
            return "not a choice"
        if isinstance(value, int | float) and not isinstance(value, bool):
            if not math.isfinite(value):
                return "not finite"
            if self.minimum is not None and value < self.minimum:
                return "too small"
            if self.maximum is not None and value > self.maximum:
                return "too large"
        return ""


class OptionValues(Mapping[str, OptionValue]):
    """The values of all options of one decoder, checked; those not given have their defaults."""

    def __init__(self, options: tuple[Option, ...], given: Mapping[str, OptionValue | str]) -> None:
        """Take ``given`` by option id or another name; a text is parsed, anything else is checked.

        Raises:
            InputError: a name is unknown, a value is not allowed, or an option is given twice.
        """
        known = {name for option in options for name in option.names}
        for name in given:
            if name not in known:
                there = ", ".join(option.id for option in options)
                raise InputError(f"unknown option {name}; there is: {there or 'none'}")
        self._values: dict[str, OptionValue] = {
            option.id: _value_of(option, given) for option in options
        }

    def __getitem__(self, name: str) -> OptionValue:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"OptionValues({self._values})"

    def integer(self, name: str) -> int:
        """Return an option that was declared with a whole number."""
        return self._of_type(name, int)

    def number(self, name: str) -> float:
        """Return an option that was declared with a float."""
        return self._of_type(name, float)

    def text(self, name: str) -> str:
        """Return an option that was declared with a text."""
        return self._of_type(name, str)

    def flag(self, name: str) -> bool:
        """Return an option that was declared with True or False."""
        return self._of_type(name, bool)

    def _of_type(self, name: str, wanted: type[_Value]) -> _Value:
        value = self._values[name]
        if type(value) is not wanted:
            raise TypeError(f"option {name} is {type(value).__name__}, not {wanted.__name__}")
        return value


def _value_of(option: Option, given: Mapping[str, OptionValue | str]) -> OptionValue:
    """Return the value of one option, whatever it is called.

    Raises:
        InputError: it is not allowed, or given twice.
    """
    used = [name for name in option.names if name in given]
    if not used:
        return option.default
    whole = [name for name in used if name not in option.bits]
    if len(whole) > 1 or (whole and len(used) > 1):
        raise InputError(f"option {option.id} is given twice, as {' and '.join(used)}")
    if whole:
        value = given[whole[0]]
        return option.parse(value) if isinstance(value, str) else option.check(value)
    number = int(option.default)
    for place, name in enumerate(reversed(option.bits)):
        if name in given:
            if str(given[name]).strip() not in ("0", "1"):
                raise InputError(f"option {name}={given[name]}: a bit of {option.id}; 0 or 1")
            number = number & ~(1 << place) | int(given[name]) << place
    return option.check(number)


@dataclass(frozen=True, slots=True)
class Output:
    """A kind of table that a decoder makes.

    ``kind`` is what another decoder names in ``consumes`` to be stacked on it. ``schema`` makes
    the pyarrow schema; it begins with ``t_ps`` int64, ``source``, ``kind`` (docs/formats.md
    section 8). ``wide`` makes that of a table some of whose numbers are too large for 64 bits.
    """

    kind: str
    schema: Callable[[], Any]
    doc: str = ""
    wide: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        if self.kind in (EDGES, CAPTURE, PACKETS) or not re.fullmatch(
            r"[0-9]*[a-z][a-z0-9_.-]*", self.kind
        ):
            raise ValueError(
                f"output kind {self.kind!r}: small letters, digits, . _ -; not edges, capture or packets"
            )


def _no_state(options: OptionValues) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Decoder:
    """A decoder, as data, with its one function.

    Each function may be given as it is, or by its name with `freezeframe.capture.code.code`.

    ``decode(piece, options, state, last)`` gets the next piece of the input: `Edges` with exactly
    the declared channels for ``edges`` (an optional channel that is not there has the name ``""``
    and stays 0), a `CaptureFolder` for ``capture``, a `PacketBlock` for ``packets``, a pyarrow Table
    for the kind of another decoder. ``state``
    is what ``new_state(options)`` returned and is changed in place, so a stream
    can be fed in pieces of any size and gives the same rows; ``last`` is true once, with the last
    piece (which may be empty), for what is still open. It returns a pyarrow Table or RecordBatch
    of the declared schema, or with more than one output a mapping kind -> Table. It never raises
    on bad wire data: a row of kind ``error`` says what was wrong, and decoding goes on.

    ``left(state)`` says, behind the last piece, whether there is more to tell: ``decode`` is then called
    again, with an empty last piece. For what may end all at once and would not fit.

    ``decode_samples`` is for speed, where a decoder of edges can do without them: the same with
    `Samples` in place of `Edges`, on the same state. A capture may come in both forms, piece by
    piece, and the rows must not depend on it.

    ``texts(row)`` puts one row (column -> value) into words; it is called only for the rows that
    are shown. ``hint(table)`` returns one line for people about a whole table that looks as if an
    option were wrong, else an empty text.

    ``evidence(seen, decoder)`` says on which lines of an unknown capture it may stand
    (`guess.candidate.Evidence` in, `Finding` out); without it names and a trial run decide.

    ``sigrok`` is the kind of sigrok's objects (``srd.spi``) that `decoders.srd` makes from its
    tables, so that decoders of sigrok can stand on it; ``""`` for none.
    """

    id: str
    name: str
    doc: str
    consumes: str
    produces: tuple[Output, ...]
    decode: Callable[[Any, OptionValues, Any, bool], Any]
    decode_samples: Callable[[Any, OptionValues, Any, bool], Any] | None = None
    left: Callable[[Any], bool] | None = None
    new_state: Callable[[OptionValues], Any] = _no_state
    channels: tuple[Channel, ...] = ()
    options: tuple[Option, ...] = ()
    texts: Callable[[Mapping[str, Any]], Texts] | None = None
    hint: Callable[[Any], str] | None = None
    evidence: Callable[[Any, Any], Any] | None = None
    sigrok: str = ""

    def __post_init__(self) -> None:
        if not _DECODER_ID.fullmatch(self.id):
            raise ValueError(
                f"decoder id {self.id!r}: small letters, digits, _ and -; digits first, if any, and then a letter"
            )
        if not self.produces:
            raise ValueError(f"decoder {self.id}: produces no table")
        if self.channels and self.consumes != EDGES:
            raise ValueError(f"decoder {self.id}: has channels but consumes {self.consumes!r}")
        if self.consumes == EDGES and not self.channels:
            raise ValueError(f"decoder {self.id}: consumes edges but declares no channel")
        if self.decode_samples is not None and self.consumes != EDGES:
            raise ValueError(f"decoder {self.id}: takes samples but consumes {self.consumes!r}")
        if self.sigrok and self.consumes != EDGES:
            raise ValueError(f"decoder {self.id}: {self.sigrok} but consumes {self.consumes!r}")
        ids = [channel.id for channel in self.channels]
        ids += [name for option in self.options for name in option.names]
        kinds = [output.kind for output in self.produces]
        for names, what in ((ids, "channel or option"), (kinds, "output")):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"decoder {self.id}: {what} declared twice: {', '.join(twice)}")

    @property
    def stackable(self) -> tuple[str, ...]:
        """The kinds that a decoder on top may consume."""
        kinds = tuple(output.kind for output in self.produces)
        return (*kinds, self.sigrok) if self.sigrok else kinds

    def option_values(self, given: Mapping[str, OptionValue | str] | None = None) -> OptionValues:
        """Return all options, those not in ``given`` at their defaults.

        Raises:
            InputError: an option is unknown or its value is not allowed; the message names the
                decoder.
        """
        try:
            return OptionValues(self.options, given or {})
        except InputError as error:
            raise InputError(f"decoder {self.id}: {error}") from None


def _check_id(what: str, name: str) -> None:
    if not _ID.fullmatch(name):
        raise ValueError(f"{what} id {name!r}: small letters, digits, _ and -, a letter first")


def _shown(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
