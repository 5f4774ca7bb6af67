"""``freezeframe freeze``: stop the recording of every device of a target and keep it, now or when the host sees why."""

from __future__ import annotations

from typing import Annotated

import typer

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.options import (
    JsonOption,
    LogOption,
    RuleBesideOption,
    RuleEveryOption,
    argument,
    option,
)
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.cli.usage import seconds

TargetsArgument = Annotated[
    list[str],
    argument("TARGET...", "URL of the card: etherbone://192.0.2.7 and others; several together."),
]
WaitOption = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", parser=seconds, help="How long a device may take."),
]
RuleOption = Annotated[
    list[str] | None,
    option(
        "--on",
        "RULE",
        "Wait for it: NAME>RATE of --beside, log:FILE~REGEX, exit:COMMAND, fails:COMMAND; any of several.",
    ),
]


def run(
    target: TargetsArgument,
    on: RuleOption = None,
    beside: RuleBesideOption = None,
    every: RuleEveryOption = 0.1,
    wait: WaitOption = 10.0,
    json: JsonOption = False,
    log_accesses: LogOption = None,
) -> None:
    """Stop recording now, or when the host sees a rule come true, and keep what was recorded.

    The cause is 'host'. A card that is frozen already keeps its cause. Traffic stops where the card
    is set to hold. With --on it says how long the freeze took after what was seen.

    \b
    Examples:
      freezeframe freeze etherbone://192.0.2.7
      freezeframe freeze etherbone://192.0.2.7 --beside netdev:eth0 --on 'rx_crc_errors>0'
      freezeframe freeze etherbone://192.0.2.7 etherbone://192.0.2.8 --on 'fails:./latency 50'
    """
    if beside and not on:
        raise InputError("--beside is for --on, which says what to wait for")
    from freezeframe.gui.cli.work.freezing import freeze

    states, seen = freeze(target, on or [], beside or [], every, wait, log_accesses)
    if json:
        rows = [
            {"name": s.device, "target": url, "state": s.state, "causes": list(s.causes)}
            for url, s in states
        ]
        emit_json({"target": target[0], "targets": target, "devices": rows, "seen": seen})
        return
    for line in seen:
        print(line)
    for url, state in states:
        where = f"{url} " if len(target) > 1 else ""
        print(f"{where}{state.device}: {state.state}, cause {', '.join(state.causes)}")
