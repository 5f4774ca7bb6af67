"""``freezeframe iwarp conform``: the suite against a peer, its verdicts as lines, and its files."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from pathlib import Path

import typer

from freezeframe.capture.errors import InputError
from freezeframe.capture.listen import listen_address
from freezeframe.emulator.iwarp.conform.evidence import write_evidence
from freezeframe.emulator.iwarp.conform.outcome import FAIL, INCONCLUSIVE, PASS
from freezeframe.emulator.iwarp.conform.requirement import REQUIREMENTS, Verdict
from freezeframe.emulator.iwarp.conform.results import document, junit
from freezeframe.emulator.iwarp.conform.suite import collect
from freezeframe.emulator.iwarp.conform.trial import Region, Subject
from freezeframe.gui.cli.output import emit_json
from freezeframe.gui.places import refuse_taken
from freezeframe.gui.report.conform_page import conform_page
from freezeframe.gui.text import printable


def conform(
    peer: str, listen: str, only: Sequence[int], region: str, receive_B: int, limit_s: float,
    patience_s: float, junit_file: Path | None, evidence: Path | None, report: Path | None, *,
    list_them: bool, force: bool, json: bool,
) -> None:  # fmt: skip
    """Run the suite, print a line for each requirement, write the files.

    Raises:
        InputError: an argument cannot be used.
        typer.Exit: a requirement failed.
    """
    if list_them:
        _list(json)
        return
    if bool(peer) == bool(listen):
        raise InputError("give the peer's HOST:PORT, or --listen HOST:PORT where it connects to us")
    unknown = sorted(set(only) - {r.number for r in REQUIREMENTS})
    if unknown:
        raise InputError(f"--only {unknown[0]}: no requirement has that number; --list shows them")
    for path in (junit_file, evidence, report):
        if path is not None:
            refuse_taken(path, force, "another file")
    subject = Subject(
        limit_s=limit_s, patience_s=patience_s, region=_region(region), receive_B=receive_B
    )
    if listen:
        host, port = listen_address(listen)
        try:
            subject.server = socket.create_server((host, port))
        except OSError as error:
            raise InputError(f"{listen}: cannot listen: {error.strerror}") from error
        if not json:
            print("ready {}:{}".format(*subject.server.getsockname()[:2]), flush=True)
    else:
        subject.host, subject.port = listen_address(
            peer, name="peer", hint="for instance 127.0.0.1:4791"
        )
    name = peer or f"the initiator that calls {listen}"
    try:
        results = collect(subject, only, None if json else _line)
    finally:
        if subject.server is not None:
            subject.server.close()
    told = document(results, name, subject.role)
    if json:
        emit_json(told)
    else:
        print(f"{told[PASS]} pass, {told[FAIL]} fail, {told[INCONCLUSIVE]} inconclusive")
    if junit_file is not None:
        junit_file.write_bytes(junit(results, name))
    if evidence is not None:
        write_evidence(results.records, evidence, f"freezeframe iwarp conform: {name}")
    if report is not None:
        report.write_text(conform_page(results, name, subject.role), "utf-8")
    if told[FAIL]:
        raise typer.Exit(1)


def _line(verdict: Verdict) -> None:
    print(
        printable(
            f"{verdict.requirement.number}  {verdict.outcome:<12}  {verdict.requirement.text}"
        )
    )
    if verdict.outcome != PASS:
        print(printable(f"     {verdict.requirement.clause}: {verdict.seen}"), flush=True)


def _list(json: bool) -> None:
    found = sorted(REQUIREMENTS, key=lambda r: r.number)
    if json:
        names = ("number", "clause", "text", "done", "role", "needs")
        emit_json([{name: getattr(r, name) for name in names} for r in found])
        return
    for r in found:
        print(f"{r.number}  {r.text} ({r.clause})\n     {r.done}")


def _region(text: str) -> Region | None:
    """Return the region of ``STAG:TO:LENGTH``.

    Raises:
        InputError: it is not of that form.
    """
    if not text:
        return None
    try:
        stag, to, length = (int(part, 0) for part in text.split(":"))
        if not (0 <= stag < 1 << 32 and 0 <= to < 1 << 64 and 0 < length < 1 << 32):
            raise ValueError
    except ValueError:
        raise InputError(f"--region {text!r}: write STAG:TO:LENGTH, for instance 0x101:0:65536") from None  # fmt: skip
    return Region(stag, to, length)
