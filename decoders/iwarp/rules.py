"""The rules of MPA, DDP and RDMAP: what each asks, where it stands, how bad its breach is, what a receiver answers.

The decoder reports breaches by these names; the stack and the proxy commit them by the same names.

Source: RFC 5040 (RDMAP), RFC 5041 (DDP), RFC 5044 (MPA), RFC 6581 (enhanced connection setup), RFC 7306 (extensions).
"""

from __future__ import annotations

from typing import NamedTuple

ERROR, WARNING, NOTE = "error", "warning", "note"


class Terminate(NamedTuple):
    """What a Terminate message says: layer, error type, error code (RFC 5040, 4.8)."""

    layer: int
    etype: int
    code: int


class Rule(NamedTuple):
    """One rule.

    ``severity``: ``error`` is a MUST that was broken, ``warning`` a SHOULD or something that only damages, ``note`` no
    breach at all. ``terminate``: what a receiver by the RFC sends, None where it sends none. ``text``: what was seen,
    with ``{value}`` and ``{expected}`` for the two numbers of an event.
    """

    name: str
    clause: str
    severity: str
    terminate: Terminate | None
    text: str


_MPA_STARTUP = Terminate(2, 0, 4)
_MPA_CRC = Terminate(2, 0, 2)
_MPA_MARKER = Terminate(2, 0, 3)
_MPA_LOST = Terminate(2, 0, 1)
_NO_IRD = Terminate(2, 0, 6)
_NO_RTR = Terminate(2, 0, 7)
_TO_WRAP = Terminate(1, 1, 3)
_TAGGED_VERSION = Terminate(1, 1, 4)
_QUEUE = Terminate(1, 2, 1)
_NO_BUFFER = Terminate(1, 2, 2)
_MSN_RANGE = Terminate(1, 2, 3)
_MO = Terminate(1, 2, 4)
_UNTAGGED_VERSION = Terminate(1, 2, 6)
_RDMAP_VERSION = Terminate(0, 2, 5)
_OPCODE = Terminate(0, 2, 6)
_SOURCE_WRAP = Terminate(0, 1, 4)
_SINK_STAG = Terminate(1, 1, 0)
_SINK_BOUNDS = Terminate(1, 1, 1)
_UNSPECIFIED = Terminate(0, 2, 0xFF)

RULES: tuple[Rule, ...] = (
    # MPA, the start of a connection
    Rule("mpa-key", "RFC 5044, 7.1.1", ERROR, _MPA_STARTUP, "the key of an MPA frame is not the one of the RFC"),
    Rule("mpa-private-data-length", "RFC 5044, 7.1.1", ERROR, _MPA_STARTUP, "PD_Length is {value}, at most 512 is allowed"),
    Rule("mpa-revision", "RFC 5044, 7.1.1; RFC 6581, 6", ERROR, _MPA_STARTUP, "revision {value}, {expected} was expected"),
    Rule("mpa-two-requests", "RFC 5044, 7.1.2", ERROR, _MPA_STARTUP, "a Request is answered by a Request: both ends are initiators"),
    Rule("mpa-two-replies", "RFC 5044, 7.1.2", ERROR, _MPA_STARTUP, "a Reply without a Request"),
    Rule("mpa-responder-first", "RFC 5044, 7.1.2", ERROR, _MPA_STARTUP, "the responder sends an FPDU before it has received one"),
    Rule("mpa-initiator-early", "RFC 5044, 7.1.2", ERROR, _MPA_STARTUP, "the initiator sends an FPDU before the Reply"),
    Rule("mpa-enhanced-mismatch", "RFC 6581, 6", ERROR, _MPA_STARTUP, "enhanced data in one of Request and Reply, not in the other"),
    Rule("mpa-enhanced-short", "RFC 6581, 9", ERROR, _MPA_STARTUP, "flag S, and only {value} octets of private data: enhanced data has 4"),
    Rule("mpa-model-mismatch", "RFC 6581, 9.1", ERROR, _NO_RTR, "control flag A of the Reply is not that of the Request"),
    Rule("mpa-no-rtr-offered", "RFC 6581, 9.2", ERROR, _NO_RTR, "peer-to-peer, and none of the RTR messages (flags B, C, D) is offered"),
    Rule("mpa-rtr-not-offered", "RFC 6581, 9.2", ERROR, _NO_RTR, "the Reply takes none of the RTR messages that the Request offers"),
    Rule("mpa-rtr-missing", "RFC 6581, 9.2", ERROR, _NO_RTR, "peer-to-peer, and the initiator's first FPDU is none of the agreed RTR messages"),
    Rule("mpa-ord-over-ird", "RFC 6581, 9.1", ERROR, _NO_IRD, "the Reply's ORD {value} is more than the Request's IRD {expected}"),
    # MPA, FPDUs
    Rule("mpa-crc", "RFC 5044, 4.4", ERROR, _MPA_CRC, "CRC {value:#010x}, expected {expected:#010x}"),
    Rule("mpa-marker", "RFC 5044, 4.3", ERROR, _MPA_MARKER, "a marker points {value} octets back, the FPDU begins {expected} octets back"),
    Rule("mpa-length", "RFC 5044, 4.1", ERROR, _MPA_MARKER, "ULPDU_Length {value}: too short for a DDP header, or too long for MPA"),
    Rule("mpa-pad", "RFC 5044, 4.1", WARNING, None, "padding is not zero"),
    Rule("mpa-cut", "RFC 5044, 8", ERROR, _MPA_LOST, "the connection ends inside an FPDU, {value} octets of {expected} were sent"),
    # DDP
    Rule("ddp-version-tagged", "RFC 5041, 4.1", ERROR, _TAGGED_VERSION, "DDP version {value}, {expected} was negotiated"),
    Rule("ddp-version-untagged", "RFC 5041, 4.1", ERROR, _UNTAGGED_VERSION, "DDP version {value}, {expected} was negotiated"),
    Rule("ddp-queue", "RFC 5041, 4.3", ERROR, _QUEUE, "queue {value} does not exist"),
    Rule("ddp-msn", "RFC 5041, 4.3; 5.1", ERROR, _MSN_RANGE, "MSN {value}, {expected} comes next"),
    Rule("ddp-mo", "RFC 5041, 4.3; 5.1", ERROR, _MO, "MO {value}, {expected} comes next"),
    Rule("ddp-to-wrap", "RFC 5041, 5.2", ERROR, _TO_WRAP, "the segment runs over the end of the tagged buffer's 64-bit offsets"),
    Rule("ddp-to", "RFC 5041, 5.2", ERROR, _SINK_BOUNDS, "TO {value:#x}, {expected:#x} comes next in this message"),
    Rule("ddp-stag-changes", "RFC 5041, 5.2", ERROR, _SINK_STAG, "STag {value:#010x} within a message to {expected:#010x}"),
    Rule("ddp-interleaved", "RFC 5041, 5.1", ERROR, _MSN_RANGE, "a message begins while another on this queue is not ended"),
    Rule("ddp-message-length", "RFC 5041, 5.1", ERROR, _MO, "the message has 2^32 octets or more"),
    # RDMAP
    Rule("rdmap-version", "RFC 5040, 4.1", ERROR, _RDMAP_VERSION, "RDMAP version {value}, {expected} was negotiated"),
    Rule("rdmap-opcode", "RFC 5040, 4.1", ERROR, _OPCODE, "opcode {value} is reserved"),
    Rule("rdmap-opcode-changes", "RFC 5040, 4.1", ERROR, _OPCODE, "opcode {value} within a message of opcode {expected}"),
    Rule("rdmap-tagged", "RFC 5040, 4.1", ERROR, _OPCODE, "opcode {value} with the wrong kind of buffer: T is {expected}"),
    Rule("rdmap-queue", "RFC 5040, 4.1", ERROR, _OPCODE, "on queue {value}, this opcode belongs on queue {expected}"),
    Rule("rdmap-read-request", "RFC 5040, 4.4", ERROR, _UNSPECIFIED, "a Read Request of {value} octets in place of {expected}"),
    Rule("rdmap-read-source-wrap", "RFC 5040, 5.2", ERROR, _SOURCE_WRAP, "source offset and size run over 2^64"),
    Rule("rdmap-read-sink-wrap", "RFC 5040, 5.2", ERROR, _SOURCE_WRAP, "sink offset and size run over 2^64"),
    Rule("rdmap-ord", "RFC 5040, 5.2; RFC 6581, 9.1", ERROR, _NO_BUFFER, "{value} requests outstanding, {expected} were negotiated"),
    Rule("rdmap-response-unasked", "RFC 5040, 5.2", ERROR, _OPCODE, "a response without a request"),
    Rule("rdmap-response-stag", "RFC 5040, 4.5; 5.2", ERROR, _SINK_STAG, "a Read Response to STag {value:#010x}, asked for to {expected:#010x}"),
    Rule("rdmap-response-to", "RFC 5040, 4.5; 5.2", ERROR, _SINK_BOUNDS, "a Read Response to TO {value:#x}, asked for to {expected:#x}"),
    Rule("rdmap-response-length", "RFC 5040, 5.2", ERROR, _SINK_BOUNDS, "a Read Response of {value} octets, {expected} were asked for"),
    Rule("rdmap-immediate-length", "RFC 7306, 6", ERROR, _UNSPECIFIED, "immediate data of {value} octets in place of {expected}"),
    Rule("rdmap-atomic-length", "RFC 7306, 5", ERROR, _UNSPECIFIED, "an atomic message of {value} octets in place of {expected}"),
    Rule("rdmap-terminate", "RFC 5040, 4.8", ERROR, None, "a Terminate that says nothing the RFC knows, or is cut"),
    Rule("rdmap-after-terminate", "RFC 5040, 5.4; 7.1", ERROR, None, "an FPDU after the Terminate of this direction"),
    # No breach of iWARP
    Rule("terminated", "RFC 5040, 4.8", NOTE, None, "Terminate: layer {value}, type and code {expected:#05x}"),
    Rule("rejected", "RFC 5044, 7.1.1", NOTE, None, "the Reply rejects the connection"),
    Rule("stream-gap", "", NOTE, None, "{value} octets of the stream are not in the capture"),
    Rule("resynchronized", "RFC 5044, 4.3; 8", NOTE, None, "FPDUs are found again after {value} octets"),
    Rule("not-decoded", "", NOTE, None, "{value} octets could not be read as FPDUs"),
    Rule("closed-early", "", NOTE, None, "more connections than are followed at once: this one, idle longest, is not followed further"),
    Rule("tcp-retransmit-differs", "RFC 9293, 3.8.1", ERROR, None, "{value} octets were sent again, and not the same"),
)  # fmt: skip
RULE_OF = {rule.name: number for number, rule in enumerate(RULES)}
"""The number of each rule in `RULES`: what kernels write."""
