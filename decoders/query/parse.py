"""The expressions of find and filter as a tree: comparisons, and, or, not, brackets.

``kind == CREDIT and flow >= 2``, ``source ~ tx_?eq``, ``not payload_ok``, ``data == 0xdeadbeef``,
``t_ps > 12.5us``. Nothing is executed: names are columns, everything else is a value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from freezeframe.capture.time_text import UNITS_PS
from freezeframe.decoders.query.words import ExpressionError

LONGEST = 4096  # characters; a pasted file is no filter
_DEEPEST = 50  # brackets and nots in each other
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<open>["'])
  | (?P<number>[+-]?(?:0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*(?:\.[0-9]+)?)(?:ps|ns|us|µs|ms|s|min|h)?(?![\w.]))
  | (?P<sign>==|!=|<=|>=|!~|=|<|>|~|\(|\)|&&|\|\||&|\||!)
  | (?P<word>(?:->|[^\s()=!<>~&|"'])+)
    """,
    re.VERBOSE,
)
_COMPARISONS = {"=": "==", "==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=",
                "~": "~", "!~": "!~"}  # fmt: skip
_WORDS = {"and": "and", "or": "or", "not": "not", "&&": "and", "&": "and", "||": "or", "|": "or",
          "!": "not"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """A part of a comparison, with its place in the text."""

    at: int
    end: int


@dataclass(frozen=True, slots=True)
class Word(Operand):
    """A bare word: the name of a column where there is one of that name, else a text."""

    name: str


@dataclass(frozen=True, slots=True)
class Text(Operand):
    """A text in quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Number(Operand):
    """A number; with a unit of time it is in picoseconds. ``hexadecimal``: it was written so."""

    value: int | Fraction
    hexadecimal: bool = False


@dataclass(frozen=True, slots=True)
class Truth(Operand):
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Null(Operand):
    """``null``: the value is not known."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left sign right``; with the sign ``""`` the left alone."""

    left: Operand
    sign: str = ""
    right: Operand | None = None


@dataclass(frozen=True, slots=True)
class Not:
    """The rows that ``of`` does not match."""

    of: Node


@dataclass(frozen=True, slots=True)
class And:
    """The rows that all match."""

    of: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The rows that any matches."""

    of: tuple[Node, ...]


Node = Comparison | Not | And | Or


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int

    @property
    def end(self) -> int:
        return self.at + len(self.text)


def parse(text: str) -> Node:
    """Return the tree of an expression.

    Raises:
        ExpressionError: it is empty, too long, or malformed; it says where.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text)} characters; {LONGEST} are possible", LONGEST, len(text))
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0

    def whole(self) -> Node:
        if self._look() is None:
            raise ExpressionError("nothing is asked for", 0, len(self._text))
        node = self._or()
        rest = self._look()
        if rest is not None:
            hint = (
                "a bracket is closed that was not opened"
                if rest.text == ")"
                else (
                    f"{rest.text!r} does not continue the expression; join conditions with and, or"
                )
            )
            raise ExpressionError(hint, rest.at, rest.end)
        return node

    def _or(self) -> Node:
        parts = [self._and()]
        while self._take("or"):
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _and(self) -> Node:
        parts = [self._not()]
        while self._take("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _not(self) -> Node:
        self._depth += 1
        if self._depth > _DEEPEST:
            at = self._look()
            place = len(self._text) if at is None else at.at
            raise ExpressionError(f"more than {_DEEPEST} brackets in each other", place, place + 1)
        try:
            if self._take("not"):
                return Not(self._not())
            opened = self._look()
            if opened is not None and opened.kind == "sign" and opened.text == "(":
                self._next += 1
                node = self._or()
                if not self._take(")"):
                    raise ExpressionError("this bracket is not closed", opened.at, opened.end)
                return node
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Node:
        left = self._operand("a column, a value or a bracket")
        token = self._look()
        if token is None or token.kind != "sign" or token.text not in _COMPARISONS:
            return Comparison(left)
        self._next += 1
        sign = _COMPARISONS[token.text]
        right = self._operand(f"a value to compare with, after {token.text}")
        if sign in ("~", "!~") and not isinstance(right, Word | Text | Number):
            raise ExpressionError("~ takes a text: name ~ part, or name ~ a*b", right.at, right.end)
        if sign in ("<", "<=", ">", ">=") and isinstance(right, Truth | Null):
            raise ExpressionError("neither true nor null is larger or smaller", right.at, right.end)
        return Comparison(left, sign, right)

    def _operand(self, wanted: str) -> Operand:
        token = self._look()
        if token is None:
            self._fail(f"{wanted} is missing at the end")
        if token.kind == "sign" or _keyword(token) is not None:
            raise ExpressionError(
                f"{wanted} should stand here, not {token.text!r}", token.at, token.end
            )
        self._next += 1
        if token.kind == "text":
            body = re.sub(r"\\(.)", r"\1", token.text[1:-1])
            return Text(token.at, token.end, body)
        if token.kind == "number":
            return _number(token)
        if token.text.lower() in ("true", "false"):
            return Truth(token.at, token.end, token.text.lower() == "true")
        if token.text.lower() == "null":
            return Null(token.at, token.end)
        return Word(token.at, token.end, token.text)

    def _look(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self, what: str) -> bool:
        token = self._look()
        if token is None or (_keyword(token) or token.text) != what or token.kind == "text":
            return False
        self._next += 1
        return True

    def _fail(self, message: str) -> NoReturn:
        raise ExpressionError(message, len(self._text.rstrip()), len(self._text.rstrip()) + 1)


def _keyword(token: _Token) -> str | None:
    """Return ``and``, ``or``, ``not`` for a token that is one."""
    if token.kind == "word":
        return _WORDS.get(token.text.lower())
    return _WORDS.get(token.text) if token.kind == "sign" else None


def _tokens(text: str) -> list[_Token]:
    found = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"{text[at]!r} means nothing here", at, at + 1)
        if match.lastgroup == "open":
            raise ExpressionError("this quote is not closed", at, len(text))
        if match.lastgroup != "space":
            found.append(_Token(match.lastgroup, match.group(), at))
        at = match.end()
    return found


def _number(token: _Token) -> Number:
    body, unit = token.text.replace("_", ""), ""
    sign = -1 if body.startswith("-") else 1
    body = body.lstrip("+-")
    if body[:2].lower() in ("0x", "0b"):
        base = 16 if body[1] in "xX" else 2
        # A unit after a hexadecimal number would be read as digits or not at all.
        if not re.fullmatch(r"[0-9a-fA-F]+" if base == 16 else r"[01]+", body[2:]):
            raise ExpressionError(f"{token.text!r} is not a number", token.at, token.end)
        return Number(token.at, token.end, sign * int(body[2:], base), True)
    match = re.fullmatch(r"([0-9.]+)([a-zµ]*)", body)
    if match is None:
        raise ExpressionError(f"{token.text!r} is not a number", token.at, token.end)
    body, unit = match.groups()
    value = sign * Fraction(body) * UNITS_PS.get(unit, 1)
    return Number(token.at, token.end, int(value) if value.denominator == 1 else value)
