"""``@dataclass`` of the standard library, made in a fifth of the time: a program start makes hundreds of them.

The library writes Python text for each method of each class, six where it is frozen, and compiles it: 0.4 ms a class,
a tenth of the time to the desktop's first picture. Here ``__init__`` alone is text, for its signature; the other
methods are functions over the fields. ``fields``, ``replace``, ``asdict`` and ``match`` know them as their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass  # what type checkers know of
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """Return the class with the methods of a dataclass, or a decorator that does.

        Raises:
            TypeError, ValueError: the fields are none of a dataclass (the library's words).
        """

        def made(plain: type) -> type:
            has_hash = "__hash__" in plain.__dict__ and not (
                plain.__dict__["__hash__"] is None and "__eq__" in plain.__dict__
            )
            one = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=slots, kw_only=kw_only
            )(plain)
            fields = dataclasses.fields(one)
            _add(one, _init(one, fields, frozen=frozen))
            _add(one, _repr(fields))
            if eq:
                compared = _values(field.name for field in fields if field.compare)
                _add(one, _eq(compared))
                if not has_hash:
                    one.__hash__ = _hash(compared) if frozen else None
            if frozen:
                for method in (_setattr, _delattr):
                    _add(one, method(one, frozenset(field.name for field in fields)))
                if slots:
                    for state in (__getstate__, __setstate__):
                        _add(one, state)
            return one

        return made if cls is None else made(cls)


__all__ = ["dataclass"]


def _add(cls: type, method: Callable[..., Any]) -> None:
    """Give a class a method, unless it has written its own."""
    if method.__name__ not in cls.__dict__:
        setattr(cls, method.__name__, method)


def _values(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that gives the values of these attributes of an object, a tuple also of one or none."""
    names = tuple(names)
    if len(names) > 1:
        return attrgetter(*names)
    if names:
        first = attrgetter(names[0])
        return lambda self: (first(self),)
    return lambda self: ()


def _init(cls: type, fields: tuple[Any, ...], *, frozen: bool) -> Callable[..., None]:
    known: dict[str, Any] = {"_put": object.__setattr__, "_missing": dataclasses.MISSING}
    plain: list[str] = []
    keyword: list[str] = []
    body: list[str] = []
    for field in fields:
        name, value = field.name, field.name
        default = field.default is not dataclasses.MISSING
        factory = field.default_factory is not dataclasses.MISSING
        if default:
            known[f"_default_{name}"] = field.default
        if factory:
            known[f"_make_{name}"] = field.default_factory
        if field.init:
            given = (
                f"{name}=_default_{name}" if default else f"{name}=_missing" if factory else name
            )
            if not field.kw_only and given == name and plain and "=" in plain[-1]:
                raise TypeError(f"non-default argument {name!r} follows default argument")
            (keyword if field.kw_only else plain).append(given)
            if factory:
                value = f"_make_{name}() if {name} is _missing else {name}"
        elif factory:
            value = f"_make_{name}()"
        elif default and "__slots__" in cls.__dict__:
            value = f"_default_{name}"
        else:
            continue  # left to ``__post_init__``, or to the attribute of the class
        body.append(f"_put(_self,{name!r},{value})" if frozen else f"_self.{name}={value}")
    if hasattr(cls, "__post_init__"):
        body.append("_self.__post_init__()")
    given = ",".join(["_self", *plain, *(["*", *keyword] if keyword else [])])
    exec(f"def __init__({given}):\n " + ("\n ".join(body) or "pass"), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = (
        f"{cls.__qualname__}.__init__"  # it stands in what Python says of wrong arguments
    )
    made.__annotations__ = {field.name: field.type for field in fields if field.init}
    made.__annotations__["return"] = None
    return made


def _repr(fields: tuple[Any, ...]) -> Callable[[Any], str]:
    names = [field.name for field in fields if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({inside})"

    return __repr__


def _eq(values: Callable[[Any], Any]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        same: bool = values(self) == values(other)
        return same

    return __eq__


def _hash(values: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _setattr(cls: Any, names: frozenset[str]) -> Callable[[Any, str, Any], None]:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _delattr(cls: Any, names: frozenset[str]) -> Callable[[Any, str], None]:
    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__


def __getstate__(self: Any) -> list[Any]:
    """Return the values for a pickle; of a frozen class that has slots, which pickle would set one by one."""
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def __setstate__(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
