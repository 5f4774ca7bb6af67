"""``--max-unpacked``, an option of every verb that reads files which may be packed: declared and applied here alone."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from freezeframe.capture.unpack_limit import set_limit
from freezeframe.gui.cli.usage import size_B


class UnpackingCommand(TyperCommand):
    """A verb whose files may unpack to so much and no more; its function does not see the option."""

    def __init__(self, name: str | None, **more: Any) -> None:
        super().__init__(name, **more)
        limit = TyperOption(
            param_decls=["--max-unpacked"],
            metavar="SIZE",
            help="Refuse a packed file that unpacks to more; 64GiB by default.",
            callback=_apply,
            expose_value=False,
        )
        self.params.insert(-1, limit)  # before --help


def _apply(context: typer.Context, parameter: Any, text: str | None) -> None:
    if text is not None:
        set_limit(size_B(text))
