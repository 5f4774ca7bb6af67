"""Each rule is broken on demand, and nothing else: octets through a spoiler, and live, where our other end says so."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.iwarp.rules import NOTE, RULE_OF, RULES
from freezeframe.emulator.iwarp.completion import CompletionQueue
from freezeframe.emulator.iwarp.ddp_kernels import REMOTE_READ, REMOTE_WRITE
from freezeframe.emulator.iwarp.errors import (
    BreachError,
    IwarpError,
    PeerGoneError,
    StartupError,
)
from freezeframe.emulator.iwarp.faults import FAULTS, Order, parse_order
from freezeframe.emulator.iwarp.fpdu import Fpdu, FpduStream, build_fpdu
from freezeframe.emulator.iwarp.layout import Opcode, ReadRequest, Segment
from freezeframe.emulator.iwarp.memory import ProtectionDomain
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.service import Hello
from freezeframe.emulator.iwarp.spoiler import Spoiler, Startup
from freezeframe.emulator.iwarp.startup import SEND, Enhanced, StartupFrame
from freezeframe.emulator.iwarp.verbs import Listener, QueuePair, accept, connect
from tests.emulator.iwarp.ends import QUICK

SEGMENT_FAULTS = [name for name, fault in FAULTS.items() if fault.segment]


def test_every_breach_of_the_decoders_table_can_be_committed_but_that_of_tcp_itself() -> None:
    breaches = {rule.name for rule in RULES if rule.severity != NOTE}
    assert breaches - set(FAULTS) == {"tcp-retransmit-differs"}


def segments() -> list[Segment]:
    """Two Sends, one of two segments, a Read Request, a Write and a Read Response of two segments each, a Send."""
    return [
        Segment(Opcode.SEND, bytes(range(33)), msn=1),
        Segment(Opcode.SEND, bytes(600), msn=2, last=False),
        Segment(Opcode.SEND, bytes(100), msn=2, mo=600),
        Segment(Opcode.READ_REQUEST, ReadRequest(1, 2, 3, 4, 5).to_bytes(), queue=1),
        Segment(Opcode.WRITE, bytes(700), tagged=True, last=False, stag=9, to=64),
        Segment(Opcode.WRITE, bytes(41), tagged=True, stag=9, to=764),
        Segment(Opcode.READ_RESPONSE, bytes(700), tagged=True, last=False, stag=8),
        Segment(Opcode.READ_RESPONSE, bytes(301), tagged=True, stag=8, to=700),
        Segment(Opcode.SEND, bytes(8), msn=3),
    ]


def spoilt(
    orders: list[Order], *, markers: bool, seed: int = 1, pieces: int = 1 << 20
) -> tuple[list[Fpdu], bytes, Spoiler]:
    """Let the segments pass an initiator's spoiler in pieces of some size; return FPDUs, octets and spoiler."""
    stream = b""
    for segment in segments():
        stream += build_fpdu(segment.to_bytes(), position=len(stream), markers=markers)
    startup = Startup(reply=StartupFrame(True, markers=markers))
    spoiler = Spoiler("initiator", startup, orders, seed)
    request = StartupFrame(False, revision=1).to_bytes()
    octets = request + stream
    out = b"".join(spoiler.feed(octets[at : at + pieces]) for at in range(0, len(octets), pieces))
    out += spoiler.rest()
    assert out.startswith(request)
    reader = FpduStream(markers=markers)
    return list(reader.feed(out[len(request) :])), out[len(request) :], spoiler


@pytest.mark.parametrize("markers", [False, True])
def test_without_a_fault_every_octet_passes_as_it_was(markers: bool) -> None:
    fpdus, octets, _ = spoilt([], markers=markers, pieces=7)
    assert [f.ulpdu for f in fpdus] == [s.to_bytes() for s in segments()]
    assert b"".join(f.raw for f in fpdus) == octets


@pytest.mark.parametrize("markers", [False, True])
@pytest.mark.parametrize("name", SEGMENT_FAULTS)
def test_a_fault_strikes_once_the_same_by_its_seed_and_all_framing_but_its_own_is_right(
    name: str, markers: bool
) -> None:
    if name == "mpa-marker" and not markers:
        return  # there are none to spoil
    fpdus, octets, spoiler = spoilt([Order(name)], markers=markers)
    [strike] = spoiler.strikes
    assert strike.name == name
    _, clean, _ = spoilt([], markers=markers)
    assert octets != clean and octets[: strike.position] == clean[: strike.position]
    assert spoilt([Order(name)], markers=markers, pieces=11)[1] == octets
    wrong = [f.position for f in fpdus if not f.crc_right]
    assert wrong == ([strike.position] if name == "mpa-crc" else [])
    pointing = [f.position for f in fpdus if not f.markers_right]
    assert pointing == ([strike.position] if name == "mpa-marker" else [])
    padded = [f.position for f in fpdus if any(f.pad)]
    assert padded == ([strike.position] if name == "mpa-pad" else [])
    if name not in ("mpa-cut", "drop"):
        assert fpdus[-1].ulpdu[-8:] == bytes(8)  # what comes after it still passes


def test_an_fpdu_that_is_held_back_goes_out_behind_the_next_or_at_the_end() -> None:
    was = [s.to_bytes() for s in segments()]
    for markers in (False, True):
        fpdus, _, _ = spoilt([Order("reorder", 3)], markers=markers, pieces=11)
        assert [f.ulpdu for f in fpdus] == [*was[:3], was[4], was[3], *was[5:]]
        assert all(f.crc_right and f.markers_right for f in fpdus)
        fpdus, _, _ = spoilt([Order("reorder", 6)], markers=markers)
        assert [f.ulpdu for f in fpdus] == was


def test_a_fault_strikes_at_the_message_and_the_octet_that_were_ordered() -> None:
    def first_changed(order: Order) -> tuple[int, int]:
        fpdus, _, _ = spoilt([order], markers=False)
        number = next(n for n, f in enumerate(fpdus) if not f.crc_right)
        was, now = segments()[number].to_bytes(), fpdus[number].ulpdu
        return number, next(n for n, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)

    assert first_changed(Order("mpa-crc", 1, 5)) == (0, 18 + 5)
    assert first_changed(Order("mpa-crc", 2, 599)) == (1, 18 + 599)
    assert first_changed(Order("mpa-crc", 2, 600)) == (2, 18 + 0)
    assert first_changed(Order("mpa-crc", 4, 740)) == (5, 14 + 40)


def test_orders_are_written_as_name_message_and_offset() -> None:
    assert parse_order("mpa-crc") == Order("mpa-crc", 1, -1)
    assert parse_order("mpa-crc@3:14") == Order("mpa-crc", 3, 14)
    for text, reason in (
        ("mpa-crx", "there is no fault 'mpa-crx'; did you mean mpa-crc"),
        ("mpa-crc@x", "write NAME, NAME@MESSAGE"),
        ("mpa-crc@0", "counted from 1"),
        ("mpa-crc@1:-2", "octets from 0"),
    ):
        with pytest.raises(InputError, match=reason):
            parse_order(text)


def test_octets_that_are_not_iwarp_pass_as_they_are() -> None:
    spoiler = Spoiler("initiator", Startup(), [Order("mpa-crc")])
    assert spoiler.feed(b"GET / HTTP/1.1\r\n") == b""
    assert spoiler.feed(b"Host: x\r\n\r\n") == b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    assert spoiler.feed(b"more") == b"more" and spoiler.strikes == []


def converse(
    faults: tuple[Order, ...], role: str, options: Options = QUICK
) -> tuple[IwarpError | None, int]:
    """Let two of our ends talk, one with faults; return why the other's connection ended, and how many struck."""
    ours = replace(options, faults=faults)
    told: list[IwarpError | None] = []
    strikes: list[int] = []

    def talk(
        pair: QueuePair, domain: ProtectionDomain, completions: CompletionQueue, *, is_faulty: bool
    ) -> None:
        region = domain.register(4096, REMOTE_READ | REMOTE_WRITE)
        theirs = Hello.of(pair.agreed.private_data)
        assert theirs is not None
        for number in range(4):
            pair.post_receive(region, 1024 * number, 1024)
        pair.start()
        try:
            pair.post_write(region, 0, 21, stag=theirs.stag, to=0)
            pair.post_send(region, 0, 301)
            kinds: list[str] = []
            while not is_faulty and kinds.count("receive") < 2:
                kinds.append(
                    completions.wait(1.0).kind
                )  # a Response is no earlier message of theirs
            pair.post_read(region, 0, 601, stag=theirs.stag, to=0)
            pair.post_send(region, 0, 8)
            kinds += [completions.wait(1.0).kind for _ in range(6 - len(kinds))]
            assert sorted(kinds) == ["read", "receive", "receive", "send", "send", "write"]
        except IwarpError as error:
            if not is_faulty:
                told.append(error)
        if is_faulty and pair.relay is not None:
            strikes.append(len(pair.relay.strikes))
        try:
            pair.close(2.0)
        except IwarpError as error:
            assert is_faulty or told, error

    def end(is_faulty: bool, begin: object) -> None:
        domain, completions = ProtectionDomain(), CompletionQueue()
        hello = Hello(domain.register(4096, REMOTE_READ | REMOTE_WRITE).stag, 4096)
        offers = replace(ours if is_faulty else options, private_data=hello.to_bytes())
        try:
            pair = begin(domain, completions, offers)  # type: ignore[operator]
        except IwarpError as error:
            if not is_faulty:
                told.append(error)
            return
        talk(pair, domain, completions, is_faulty=is_faulty)

    with Listener() as listener:
        server = threading.Thread(
            target=end,
            args=(role == "responder", lambda d, c, o: accept(listener.take(5), d, c, o)),
        )
        server.start()
        end(role == "initiator", lambda d, c, o: connect("127.0.0.1", listener.port, d, c, o))
        server.join()
    return (told[0] if told else None), sum(strikes)


# What our receiver, as lenient as the RFCs allow, calls otherwise than the decoder does, or lets pass: a segment of a
# Write stands for itself, padding need not be looked at, and Read Requests that are answered at once are not too many.
OTHERWISE = {
    "ddp-to": None, "mpa-pad": None, "rdmap-ord": None,
    "ddp-message-length": (1, 2, 4), "duplicate": None, "reorder": None, "rdmap-terminate": "sent a Terminate",
    "rdmap-after-terminate": "sent a Terminate", "rdmap-queue": (0, 2, 6), "drop": None,
    "mpa-cut": "ended inside an FPDU",
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in SEGMENT_FAULTS if n != "mpa-rtr-missing"])
def test_our_other_end_sees_a_live_fault_and_answers_by_the_terminate_of_its_rule(
    name: str,
) -> None:
    options = replace(QUICK, markers=name == "mpa-marker", mulpdu_B=128)
    message = (
        3 if name.startswith("rdmap-read-s") else 1
    )  # the Read Request: what it asks for is there
    error, strikes = converse((Order(name, message),), "initiator", options)
    if name == "mpa-marker":
        assert isinstance(error, BreachError)
    assert strikes <= 1
    expected = OTHERWISE[name] if name in OTHERWISE else RULES[RULE_OF[name]].terminate
    if isinstance(expected, str):
        assert expected in str(error)
    elif expected is not None:
        assert isinstance(error, BreachError), error
        assert error.cause == expected


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.frame])
def test_our_other_end_names_the_rule_that_an_mpa_frame_breaks(name: str) -> None:
    role = FAULTS[name].sender or "initiator"
    peers = name == "mpa-rtr-not-offered"
    options = replace(QUICK, peer_to_peer=peers, rtr=SEND) if peers else QUICK
    error, _ = converse((Order(name),), role, options)
    assert isinstance(error, StartupError), error
    assert error.rule == name


def test_an_early_initiator_an_early_responder_and_one_that_is_not_ready() -> None:
    startup = Startup()
    request = StartupFrame(False, revision=2, enhanced=Enhanced(1, 1, True, SEND))
    early = Spoiler("initiator", startup, [Order("mpa-initiator-early"), Order("mpa-rtr-missing")])
    first = early.feed(request.to_bytes())
    assert first == request.to_bytes() + build_fpdu(Segment(Opcode.WRITE, tagged=True).to_bytes())
    late = Spoiler("responder", startup, [Order("mpa-responder-first")])
    reply = StartupFrame(True, revision=2, enhanced=Enhanced(1, 1, True, SEND))
    assert late.feed(reply.to_bytes()) == reply.to_bytes() + first[len(request.to_bytes()) :]
    ready = early.feed(build_fpdu(Segment(Opcode.SEND).to_bytes()))
    assert ready == build_fpdu(Segment(Opcode.WRITE, b"\0", tagged=True).to_bytes())
    error, _ = converse(
        (Order("mpa-rtr-missing"),), "initiator", replace(QUICK, peer_to_peer=True, rtr=SEND)
    )
    assert isinstance(error, BreachError) and error.cause == (2, 0, 7)
    with pytest.raises(ValueError, match="a fault of the responder, not of the initiator"):
        Spoiler("initiator", Startup(), [Order("mpa-two-requests")])


def test_a_fault_that_cuts_the_stream_ends_it() -> None:
    error, _ = converse((Order("mpa-cut", 2),), "responder")
    assert isinstance(error, PeerGoneError) and error.inside
