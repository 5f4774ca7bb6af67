"""The entry point ``freezeframe``: finds the verb and loads nothing else."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from freezeframe.gui.cli.output import EXIT_PIPE, forget_stdout, print_anything
from freezeframe.gui.cli.verbs import VERBS, Verb, help_text, version_text

if TYPE_CHECKING:
    import typer

__all__ = ["build_app", "main"]

_COMPLETION = ("--install-completion", "--show-completion")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code (docs/command-line.md, "Exit codes")."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        # What numpy brings for matrices starts a thread a core, and each looks for work without rest for
        # 0.1 s: on a core that something else could have. Nothing here has such work; the user may say more.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    print_anything()
    code = 0
    try:
        code = _dispatch(arguments)
        if sys.stdout is not None:  # None where the shell has closed it
            sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
        code = EXIT_PIPE
    except OSError as error:
        if error.filename is not None:
            raise
        forget_stdout()
        if not code:  # else the verb has said already what is wrong
            print(f"freezeframe: standard output: {error.strerror}", file=sys.stderr)
            code = 2
    except KeyboardInterrupt:
        code = 130
    if argv is None and arguments[:1] == ["decode"]:
        from freezeframe.gui.cli.leaving import leave

        leave(code)
    gc.freeze()  # else the end of the interpreter looks at all that numba has made, for 0.1 s
    sys.exit(code)


def build_app(verbs: Sequence[Verb] = VERBS) -> typer.Typer:
    """Return the typer application with these verbs; each one's module is imported."""
    from importlib import import_module

    import typer

    from freezeframe.gui.cli.errors import reported
    from freezeframe.gui.cli.usage import OneLineGroup

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
        run = import_module(verb.module).run
        app.command(verb.name, short_help=verb.summary)(reported(run))
    return app


def _dispatch(arguments: list[str]) -> int:
    completing = any(name.endswith("_COMPLETE") and "FREEZEFRAME" in name for name in os.environ)
    first = arguments[0] if arguments else ""
    if not completing:
        if first in ("", "--help", "-h"):
            print(help_text())
            return 0 if first else 2
        if first == "--version":
            print(version_text())
            return 0
    verbs = [verb for verb in VERBS if verb.name == first]
    if not verbs and not completing and first not in _COMPLETION:
        return _unknown(first)
    if not completing:
        code = _without_typer(first, arguments[1:])
        if code is not None:
            return code
    try:
        build_app(verbs or VERBS)(args=arguments, prog_name="freezeframe")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 2
    return 0


def _without_typer(verb: str, arguments: list[str]) -> int | None:
    """Run a verb that reads plain arguments itself; None for the others, and where they are not plain."""
    work = _watch if verb == "watch" else _decode if verb == "decode" else None
    try:
        return None if work is None or not work(arguments) else 0
    except Exception as error:
        from freezeframe.gui.cli.failures import failure

        found = failure(error)
        if found is None:
            raise
        line, code = found
        print(line, file=sys.stderr)
        return code


def _watch(arguments: list[str]) -> bool:
    from freezeframe.gui.cli.watching import plain_options, watch

    options = plain_options(arguments)
    if options is not None:
        watch(options)
    return options is not None


def _decode(arguments: list[str]) -> bool:
    from freezeframe.gui.cli.decode_options import begin_reading, plain_options

    options = plain_options(arguments)
    if options is None:
        return False
    begin_reading(options)  # before all else, so that it goes on while all else is loaded
    from freezeframe.gui.cli.decoding import decode

    decode(options)
    return True


def _unknown(first: str) -> int:
    from difflib import get_close_matches

    kind = "option" if first.startswith("-") else "verb"
    close = get_close_matches(first, [verb.name for verb in VERBS], n=1)
    hint = f"did you mean {close[0]!r}?" if close else "'freezeframe --help' lists them"
    print(f"freezeframe: {first!r} is not a {kind}; {hint}", file=sys.stderr)
    return 2
