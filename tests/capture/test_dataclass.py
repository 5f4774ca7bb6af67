"""Our ``dataclass`` makes what the library's makes, which is the oracle: each class is made by both."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import pytest

from freezeframe.capture import dataclass as ours

Decorator = Callable[..., Any]
MAKERS = {"library": dataclasses.dataclass, "ours": ours.dataclass}
FORMS = [
    {},
    {"slots": True},
    {"eq": False},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
]


def made(dataclass: Decorator, **form: bool) -> type[Any]:
    """Return a class with all that fields have in this repository."""

    @dataclass(**form)
    class Reading:
        """A reading."""

        name: str
        t_ps: int = 0
        rows: list[int] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)
        count: int = dataclasses.field(default=0, init=False)
        made_of: dict[str, int] = dataclasses.field(default_factory=dict, init=False)
        place: str = dataclasses.field(default="here", kw_only=True)

        def __post_init__(self) -> None:
            object.__setattr__(self, "count", len(self.rows))

    return Reading


@dataclasses.dataclass(frozen=True, slots=True)
class LibrarysPoint:
    x: int
    y: int = 2


@ours.dataclass(frozen=True, slots=True)
class OurPoint:
    x: int
    y: int = 2


@ours.dataclass(frozen=True)
class OurFarPoint(OurPoint):
    z: int = 3

    @cached_property
    def total(self) -> int:
        return self.x + self.y + self.z


def answer(ask: Callable[[], object]) -> object:
    """Return what comes, or the error with its words."""
    try:
        return ask()
    except Exception as error:
        return type(error), str(error)


QUESTIONS: dict[str, Callable[[type[Any]], object]] = {
    "repr": lambda c: repr(c("a", 7, [1], note="n", place="there")).rpartition("Reading")[2],
    "the default of each field": lambda c: dataclasses.asdict(c("a", place="p")),
    "a factory is called for each": lambda c: c("a", place="").rows is c("b", place="").rows,
    "a factory outside of init, too": lambda c: (
        c("a", place="").made_of is c("b", place="").made_of
    ),
    "what was worked out after init": lambda c: c("a", rows=[1, 2], place="").count,
    "equal": lambda c: c("a", 1, place="") == c("a", 1, place="", note="not compared"),
    "different": lambda c: c("a", 1, place="") == c("a", 2, place=""),
    "not of its kind": lambda c: c("a", 1, place="") == ("a", 1),
    "hash there": lambda c: vars(c).get("__hash__", 0) is None,
    "hash of a list": lambda c: "__hash__" in vars(c) and answer(lambda: hash(c("a", place=""))),
    "positional": lambda c: [
        (n, str(p.kind), p.default is p.empty)
        for n, p in inspect.signature(c).parameters.items()
    ],
    "match": lambda c: c.__match_args__,
    "fields": lambda c: [(f.name, f.type, f.init, f.kw_only) for f in dataclasses.fields(c)],
    "replace": lambda c: dataclasses.replace(c("a", 1, place="p"), t_ps=2).t_ps,
    "set": lambda c: answer(lambda: setattr(c("a", place=""), "name", "b")),
    "delete": lambda c: answer(lambda: delattr(c("a", place=""), "name")),
    "doc": lambda c: c.__doc__,
    "slots": lambda c: getattr(c, "__slots__", None),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_class_answers_as_the_librarys_does(question: str, form: dict[str, bool]) -> None:
    said = [QUESTIONS[question](made(maker, **form)) for maker in MAKERS.values()]
    assert said[0] == said[1]


def test_fields_by_name_alone() -> None:
    for given, by_name in (((), {"name": "a", "t_ps": 1, "place": "p"}), (("a",), {"place": "p"})):
        said = []
        for maker in MAKERS.values():
            reading = made(maker, frozen=True, kw_only=True)
            said.append(answer(lambda c=reading, g=given, n=by_name: repr(c(*g, **n))))  # type: ignore[misc]
        assert said[0] == said[1]


@pytest.mark.parametrize("arguments", [(), (1, 2, 3), ("x",)], ids=str)
def test_wrong_arguments_are_refused_in_the_same_words(arguments: tuple[Any, ...]) -> None:
    librarys, our = (str(answer(partial(kind, *arguments))) for kind in (LibrarysPoint, OurPoint))
    assert our.replace("OurPoint", "LibrarysPoint") == librarys


def test_an_instance_is_a_key_and_comes_back_from_a_pickle() -> None:
    point = OurPoint(1)
    assert {point: "there"}[OurPoint(1, 2)] == "there"
    assert hash(point) == hash(LibrarysPoint(1))
    assert pickle.loads(pickle.dumps(point)) == point
    far = OurFarPoint(1, 2, 4)
    assert pickle.loads(pickle.dumps(far)) == far


def test_a_class_on_another_has_the_fields_of_both_and_stays_frozen() -> None:
    far = OurFarPoint(1, z=4)
    assert (repr(far), far.total) == ("OurFarPoint(x=1, y=2, z=4)", 7)
    assert far != OurPoint(1)
    for name in "xz":
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(far, name, 5)


def test_what_is_no_field_of_a_frozen_class_cannot_be_set_either() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'z'"):
        OurPoint(1).z = 3  # type: ignore[attr-defined]


def test_methods_that_a_class_has_written_itself_stay() -> None:
    @ours.dataclass(frozen=True, slots=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "own"

        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            return True

    assert (repr(Own(1)), hash(Own(1)), Own(1) == Own(2)) == ("own", 5, True)


def test_one_that_holds_itself_has_a_repr() -> None:
    reading = made(ours.dataclass)("a", place="p")
    reading.rows.append(reading)
    assert repr(reading).endswith(
        "Reading(name='a', t_ps=0, rows=[...], count=0, made_of={}, place='p')"
    )


def test_what_is_no_dataclass_is_refused_in_the_librarys_words() -> None:
    for dataclass in MAKERS.values():
        with pytest.raises(TypeError, match="non-default argument 'y' follows default argument"):

            @dataclass
            class Wrong:
                x: int = 1
                y: int  # type: ignore[misc]

        with pytest.raises(ValueError, match="mutable default <class 'list'> for field x"):

            @dataclass
            class Shared:
                x: list[int] = []  # noqa: RUF012 - what is to be refused
