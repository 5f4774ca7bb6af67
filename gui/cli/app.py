"""The typer application: the verbs as commands. Loaded once a verb is to run, for typer costs 0.1 s."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import typer

from freezeframe.capture.nearest import meant
from freezeframe.gui.cli.errors import reported
from freezeframe.gui.cli.unpacking import UnpackingCommand
from freezeframe.gui.cli.usage import OneLineGroup
from freezeframe.gui.cli.verbs import VERBS, Verb

_COMPLETION = ("--install-completion", "--show-completion")


def build_app(verbs: Sequence[Verb] = VERBS) -> typer.Typer:
    """Return the typer application with these verbs; each one's module is imported."""
    app = typer.Typer(
        cls=OneLineGroup,
        # rich formatting of help costs 0.2 s at every start
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        add_completion=True,
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
    )

    @app.callback()
    def freezeframe() -> None:
        """A flight recorder for network cards."""

    for verb in verbs:
        module = import_module(verb.module)
        if hasattr(module, "COMMANDS"):
            app.add_typer(_group(module), name=verb.name, short_help=verb.summary)
        else:
            kind = UnpackingCommand if verb.unpacks else None
            app.command(verb.name, short_help=verb.summary, cls=kind)(reported(module.run))
    return app


def _group(module: ModuleType) -> typer.Typer:
    """Return a verb with verbs of its own: functions in ``COMMANDS``, each under its name; ``HELP`` is their help."""
    group = typer.Typer(
        help=module.HELP, no_args_is_help=True, rich_markup_mode=None, add_completion=False
    )
    for name, run in module.COMMANDS.items():
        group.command(name)(reported(run))
    return group


def run_verb(arguments: list[str], *, completing: bool) -> int:
    """Run the verb that the arguments begin with and return the exit code.

    Args:
        completing: a shell asks for completions, which may be of any verb.
    """
    first = arguments[0] if arguments else ""
    verbs = [verb for verb in VERBS if verb.name == first]
    if not verbs and not completing and first not in _COMPLETION:
        return _unknown(first)
    try:
        build_app(verbs or VERBS)(args=arguments, prog_name="freezeframe")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    return 0


def _unknown(first: str) -> int:
    kind = "option" if first.startswith("-") else "verb"
    hint = meant(first, [verb.name for verb in VERBS], "'freezeframe --help' lists them")
    print(f"freezeframe: {first!r} is not a {kind}; {hint}", file=sys.stderr)
    return 2
