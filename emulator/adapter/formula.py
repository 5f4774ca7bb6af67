"""Formulas of profiles: ``= F_o_us * 1000 / 3`` over the parameters of the profile."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache

_TWO: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_MOST = 200


def evaluated(text: str, parameters: Mapping[str, float]) -> int | float:
    """Return what a formula comes to; a whole number where it is one.

    Raises:
        ValueError: it is no formula of numbers, parameters, ``+ - * / //``, ``min``, ``max`` and parentheses, has no
            value, or is longer than 200 characters.
    """
    if len(text) > _MOST:
        raise ValueError(f"a formula of {len(text)} characters; at most {_MOST}")
    try:
        value = _value(_parsed(text.strip()), parameters)
    except SyntaxError:
        raise ValueError(f"{text.strip()!r} is no formula") from None
    except ZeroDivisionError:
        raise ValueError(f"{text.strip()!r} divides by zero") from None
    if not math.isfinite(value):
        raise ValueError(f"{text.strip()!r} is {value}")
    return int(value) if float(value).is_integer() else value


@lru_cache(1024)
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _value(node: ast.expr, parameters: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name):
            if name not in parameters:
                known = ", ".join(parameters) or "none"
                raise ValueError(f"there is no parameter {name!r}; there are {known}")
            return parameters[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner, parameters)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _TWO:
            return _TWO[type(op)](_value(left, parameters), _value(right, parameters))
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[_, *_] as given, keywords=[]):
            return (min if name == "min" else max)(_value(one, parameters) for one in given)
    raise ValueError(f"{ast.unparse(node)!r} is not for formulas")
