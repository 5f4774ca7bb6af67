"""``freezeframe targets``: the ways to reach a card, and the devices behind one URL."""

from __future__ import annotations

from typing import Annotated

from freezeframe.gui.cli.options import JsonOption, LogOption, argument

TargetFilter = Annotated[str | None, argument("TARGET", "List the devices behind this URL.")]


def run(
    target: TargetFilter = None, json: JsonOption = False, log_accesses: LogOption = None
) -> None:
    """List the ways to reach a card, or the devices behind one.

    \b
    Examples:
      freezeframe targets
      freezeframe targets etherbone://192.0.2.7
    """
    from freezeframe.gui.cli.work.targets import list_devices, list_kinds

    if target is None:
        list_kinds(json=json)
    else:
        list_devices(target, log_accesses, json=json)
