"""``freezeframe guard``: unattended: wait for a freeze, pull, arm again, explain, tell somebody, go on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.gui.cli.options import (
    OutageOption,
    RuleBesideOption,
    RuleEveryOption,
    argument,
    option,
)
from freezeframe.gui.cli.usage import seconds

TargetsArgument = Annotated[
    list[str],
    argument(
        "TARGET...",
        "URL of the card: etherbone://192.0.2.7 and others; several are the ends of one case.",
    ),
]
KeepOption = Annotated[
    int, typer.Option("--keep", metavar="N", min=1, help="Keep the newest N captures.")
]
KeepFirstOption = Annotated[
    int, typer.Option("--keep-first", metavar="N", min=0, help="And the first N, whatever comes.")
]
KeepBytesOption = Annotated[
    str | None,
    option("--keep-bytes", "SIZE", "But no more than SIZE of others (500M, 20G); oldest go first."),
]
KindsOption = Annotated[
    bool,
    typer.Option("--keep-kinds/--no-keep-kinds", help="And one of each kind of finding."),
]
KeepLogOption = Annotated[
    str | None,
    option("--keep-log", "SIZE", "Of guard.ffrec the newest SIZE at least, else all."),
]
DirectoryOption = Annotated[
    Path, option("--output", "DIR", "Directory for the captures.", short="-o")
]
CountOption = Annotated[int | None, option("--count", "N", "End after N captures.", min=1)]
PollOption = Annotated[
    float,
    typer.Option("--poll", metavar="SECONDS", parser=seconds, help="Time between two looks."),
]
HostOption = Annotated[
    list[str] | None,
    option(
        "--host-trace",
        "FILE",
        "A trace of the card's computer, whose end goes into each capture; B=FILE: of card B.",
    ),
]
RuleOption = Annotated[
    list[str] | None,
    option(
        "--freeze-on",
        "RULE",
        "Freeze the cards when the host sees it: NAME>RATE of --beside, log:FILE~REGEX, exit:COMMAND, fails:COMMAND.",
    ),
]
ExecOption = Annotated[
    list[str] | None,
    option("--exec", "COMMAND", "Run it for each capture and trouble: JSON on its standard input."),
]
HookOption = Annotated[
    list[str] | None, option("--webhook", "URL", "Post the JSON of each capture and trouble there.")
]
MailOption = Annotated[
    list[str] | None, option("--mail", "ADDRESS", "Mail each capture and trouble, by sendmail.")
]
BundleOption = Annotated[
    bool,
    typer.Option("--bundle", help="Pack each capture into one file, NAME.ff.zip, for those told."),
]
JsonLinesOption = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON for each capture.")
]


def run(
    target: TargetsArgument,
    output: DirectoryOption,
    *,
    keep: KeepOption = 50,
    keep_first: KeepFirstOption = 1,
    keep_bytes: KeepBytesOption = None,
    keep_kinds: KindsOption = True,
    keep_log: KeepLogOption = None,
    count: CountOption = None,
    poll: PollOption = 0.2,
    outage: OutageOption = 30.0,
    host_trace: HostOption = None,
    beside: RuleBesideOption = None,
    every: RuleEveryOption = 0.5,
    freeze_on: RuleOption = None,
    exec: ExecOption = None,
    webhook: HookOption = None,
    mail: MailOption = None,
    bundle: BundleOption = False,
    json: JsonLinesOption = False,
) -> None:
    """Wait for freezes unattended: pull, arm again, explain, and go on until interrupted.

    Arms only over what stands on the disk. Waits for a card that is not up, vanishes or restarts,
    and for room on the disk. Each capture is a folder NNNN-NONCE-GENERATION-CAUSE.ff;
    guard.ffrec in the same directory says what was found in each, what became of every generation,
    and what happened when: 'freezeframe night DIR' sums it up, 'freezeframe recording' lists it.

    \b
    Examples:
      freezeframe guard etherbone://192.0.2.7 --keep 50 -o captures
      freezeframe guard etherbone://192.0.2.7 etherbone://192.0.2.8 -o night --mail lab@example.org
      freezeframe guard pci:0000:03:00.0 -o night --beside netdev:eth0 --freeze-on 'rx_crc_errors>0'
    """
    from freezeframe.gui.cli.work.guard import GuardOptions, guard_targets

    guard_targets(
        GuardOptions(
            targets=target, output=output, keep=keep, keep_first=keep_first, keep_bytes=keep_bytes,
            keep_kinds=keep_kinds, keep_log=keep_log, count=count, poll_s=poll, outage_s=outage,
            host_traces=host_trace or [], beside=beside or [], every_s=every, rules=freeze_on or [],
            programs=exec or [], hooks=webhook or [], mailboxes=mail or [], bundle=bundle, json=json,
        )
    )  # fmt: skip
