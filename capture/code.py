"""Code named by a string and loaded when it is first called, so that a declaration imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any


class Code:
    """A function that a declaration names: ``"package.module:function"``; calling it loads it."""

    def __init__(self, name: str) -> None:
        """Take the name.

        Raises:
            ValueError: it is not ``module:function``.
        """
        self.module, _, self.function = name.partition(":")
        if not (self.module and self.function):
            raise ValueError(f"code {name!r}: not module:function")

    @cached_property
    def loaded(self) -> Callable[..., Any]:
        """The function itself.

        Raises:
            ImportError: the module does not load.
            AttributeError: it has no such function.
        """
        function: Callable[..., Any] = getattr(import_module(self.module), self.function)
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.loaded(*args, **kwargs)

    def __repr__(self) -> str:
        return f"code({f'{self.module}:{self.function}'!r})"


def code(name: str) -> Callable[..., Any]:
    """Return the function of this name, ``"package.module:function"``, not loaded yet.

    Raises:
        ValueError: the name is not of that form.
    """
    return Code(name)
