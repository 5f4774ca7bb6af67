"""``freezeframe iwarp conform``: requirements of the RFCs, put to a peer one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from freezeframe.capture.code import code
from freezeframe.gui.cli.options import ForceOption, JsonOption, argument, option
from freezeframe.gui.cli.usage import seconds

_conform = code("freezeframe.gui.cli.work.iwarp_conform:conform")


def conform(
    peer: Annotated[
        str, argument("[HOST:PORT]", "The peer, which listens; none with --listen.")
    ] = "",
    *,
    listen: Annotated[
        str, option("--listen", "HOST:PORT", "The peer connects here, again and again.")
    ] = "",
    only: Annotated[
        list[int] | None, option("--only", "N", "This requirement alone; may be given again.")
    ] = None,
    region: Annotated[
        str, option("--region", "STAG:TO:LENGTH", "Memory that the peer lends for this.")
    ] = "",
    receive: Annotated[
        int, option("--receive-B", "OCTETS", "Length of its buffers for Sends; 0: none.", min=0)
    ] = 0,
    limit: Annotated[
        float,
        typer.Option(
            "--limit", metavar="SECONDS", parser=seconds, help="The longest for an answer."
        ),
    ] = 5.0,
    patience: Annotated[
        float,
        typer.Option(
            "--patience",
            metavar="SECONDS",
            parser=seconds,
            help="The longest for its own time limits.",
        ),
    ] = 15.0,
    junit: Annotated[Path | None, option("--junit", "FILE", "Write JUnit XML.")] = None,
    evidence: Annotated[
        Path | None, option("--evidence", "FILE.pcapng", "Write what passed, as packets.")
    ] = None,
    report: Annotated[Path | None, option("--report", "FILE.html", "Write a page.")] = None,
    list_them: Annotated[
        bool, typer.Option("--list", help="List the requirements, and stop.")
    ] = False,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Put numbered requirements of the RFCs to a peer: pass, fail, or inconclusive, with the packets that show it.

    A peer that listens is called, as initiator; with --listen the peer calls, and must call again after each
    connection. Some requirements need memory of the peer, or buffers for Sends: 'freezeframe iwarp listen' tells of its
    memory by itself. Exits with 1 where one fails.

    \b
    Examples:
      freezeframe iwarp conform 127.0.0.1:4791
      freezeframe iwarp conform 192.0.2.9:4791 --region 0x101:0:65536 --receive-B 4096 --evidence seen.pcapng
      freezeframe iwarp conform --listen 0.0.0.0:4791 --report conform.html --junit conform.xml
      freezeframe iwarp conform --list
    """
    _conform(
        peer, listen, only or [], region, receive, limit, patience, junit, evidence, report,
        list_them=list_them, force=force, json=json,
    )  # fmt: skip
