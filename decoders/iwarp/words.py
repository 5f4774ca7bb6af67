"""iWARP in words: rows, broken rules, negotiations, Terminates.

Source: RFC 5040, 4.8 (what Terminates say); RFC 5044, 7.1; RFC 6581, 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.contract import Texts
from freezeframe.decoders.iwarp.rules import RULE_OF, RULES
from freezeframe.decoders.iwarp.state import REASONS

_CRC_RULE = RULE_OF["mpa-crc"]
_TERMINATED = RULE_OF["terminated"]
_LAYERS = {0: "RDMAP", 1: "DDP", 2: "MPA"}
_TERMINATES = {
    (0, 1, 0x00): "invalid STag", (0, 1, 0x01): "base or bounds", (0, 1, 0x02): "access rights",
    (0, 1, 0x03): "STag not associated with the stream", (0, 1, 0x04): "TO wraps",
    (0, 1, 0x09): "STag cannot be invalidated", (0, 1, 0xFF): "remote protection, unspecified",
    (0, 2, 0x05): "RDMAP version", (0, 2, 0x06): "unexpected opcode", (0, 2, 0x07): "catastrophic, of the stream",
    (0, 2, 0x08): "catastrophic, global", (0, 2, 0x09): "STag cannot be invalidated",
    (0, 2, 0xFF): "remote operation, unspecified",
    (1, 0, 0x00): "local catastrophic", (1, 1, 0x00): "invalid STag", (1, 1, 0x01): "base or bounds",
    (1, 1, 0x02): "STag not associated with the stream", (1, 1, 0x03): "TO wraps", (1, 1, 0x04): "DDP version",
    (1, 2, 0x01): "invalid queue", (1, 2, 0x02): "no buffer for the MSN", (1, 2, 0x03): "MSN out of range",
    (1, 2, 0x04): "invalid MO", (1, 2, 0x05): "message too long for the buffer", (1, 2, 0x06): "DDP version",
    (2, 0, 0x01): "TCP connection lost", (2, 0, 0x02): "CRC", (2, 0, 0x03): "marker and ULPDU_Length disagree",
    (2, 0, 0x04): "invalid Request or Reply", (2, 0, 0x05): "local catastrophic", (2, 0, 0x06): "insufficient IRD",
    (2, 0, 0x07): "no matching RTR",
}  # fmt: skip
_ENHANCED, _REJECT, _MARKERS, _CRC, _RESERVED = 0x10, 0x20, 0x80, 0x40, 0x0F
_ANY_DEPTH = 0x3FFF
_WORD = (1 << 64) - 1
_LAST_REVISION = 2
_RTR = ((4, "a zero-length Send"), (2, "a zero-length Write"), (1, "a zero-length Read"))


def terminate_words(layer: int, etype: int, code: int) -> str:
    """Return what a Terminate says."""
    if (layer, etype) == (0, 0):
        return "RDMAP: local catastrophic"
    what = _TERMINATES.get(
        (layer, etype, code), f"type {etype}, code {code:#04x}, which no RFC has"
    )
    return f"{_LAYERS.get(layer, f'layer {layer}')}: {what}"


def event_words(rule: int, value: int, expected: int, about: int, detail: int) -> str:
    """Return an event as a sentence; ``detail``: of a wrong CRC its likely reason, and a flipped bit."""
    if rule == _CRC_RULE and detail:
        reason, bit = detail & 0xFF, (detail >> 8) - 1
        where = f" (bit {bit % 8} of octet {bit // 8})" if bit >= 0 else ""
        return (
            f"{RULES[rule].text.format(value=value, expected=expected)}: {REASONS[reason]}{where}"
        )
    if rule == _TERMINATED:
        cause = f", about FPDU {about} of the other side" if about >= 0 else ""
        return f"Terminate: {terminate_words(value, expected >> 8, expected & 0xFF)}{cause}"
    return RULES[rule].text.format(value=value, expected=expected)


def connection_words(row: Any, private: Sequence[bytes]) -> str:
    """Return a negotiation as sentences; ``row``: a record of `state.CONNECTION`."""
    revisions = [int(each) for each in row["revision"]]
    flags = [int(each) for each in row["frame_flags"]]
    if max(revisions) < 0:
        return "no Request and no Reply in the capture: what was negotiated is taken from the FPDUs"
    parts = [
        _frame_words(name, revisions[i], flags[i], private[i], row, i)
        for i, name in enumerate(("Request", "Reply"))
    ]
    if row["rejected"]:
        return f"{'; '.join(parts)}. Rejected: no FPDU follows, TCP stays open"
    if min(revisions) < 0:
        return "; ".join(parts)
    who = ("the initiator", "the responder")
    marked = [who[1 - i] for i in (1, 0) if flags[i] & _MARKERS]
    markers = f"{' and '.join(marked)} must insert markers" if marked else "no markers"
    crc = (
        "CRC in force both ways"
        if (flags[0] | flags[1]) & _CRC
        else "no CRC: its field says nothing"
    )
    return f"{'; '.join(parts)}. So {markers}, {crc}"


def _frame_words(name: str, revision: int, flags: int, private: bytes, row: Any, which: int) -> str:
    if revision < 0:
        return f"no {name} in the capture"
    parts = [f"{name}: revision {revision}"]
    if revision == 0:
        parts[0] += " (RDMA Consortium)"
    parts.append("wants markers" if flags & _MARKERS else "wants no markers")
    parts.append("wants CRC" if flags & _CRC else "no CRC asked for")
    if flags & _REJECT:
        parts.append("rejects" if which else "reject flag set, which says nothing here")
    kept = int(row["private_B"][which]) >= 0
    enhanced = bool(flags & _ENHANCED) and revision == _LAST_REVISION
    reserved = flags & (_RESERVED if revision == _LAST_REVISION else _RESERVED | _ENHANCED)
    if reserved:
        parts.append(f"reserved bits {reserved:#x}, which say nothing")
    if enhanced and len(private) >= 4:
        model = int(row["model"][which])
        parts.append(f"IRD {_depth(int(row['ird'][which]))}, ORD {_depth(int(row['ord'][which]))}")
        if model & 8:
            ways = [text for bit, text in _RTR if model & bit]
            parts.append(f"peer-to-peer, ready by {' or '.join(ways) if ways else 'nothing'}")
        else:
            parts.append("client and server")
        private = private[4:]
    elif enhanced and kept:
        parts.append("flag S without enhanced data")
    if not kept:
        parts.append("more private data than may be")
    else:
        parts.append(f"{len(private)} octets of private data" if private else "no private data")
    return ", ".join(parts)


def _depth(depth: int) -> str:
    return "left to the ULP" if depth == _ANY_DEPTH else str(depth)


def iwarp_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of any of the tables into words."""
    who = str(row["source"])
    if "clause" in row:
        where = f" ({row['clause']})" if row["clause"] else ""
        answer = f"; answered by Terminate {row['terminate']}" if row["terminate"] else ""
        fpdu = "" if row["fpdu"] is None else f" FPDU {row['fpdu']}"
        return Texts(
            str(row["error"]),
            f"{row['error']}: {row['text']}",
            f"{who}{fpdu}: {row['error']}: {row['text']}{where}{answer}",
        )
    if "text" in row:
        return Texts(f"#{row['connection']}", str(row["text"]), f"{who}: {row['text']}")
    if "latency_ps" in row:
        where = (
            f" STag {row['stag']:#010x} TO {row['to'] & _WORD:#x}" if row["to"] is not None else ""
        )
        normal = f"{row['kind']} {row['size_B']} B{where}"
        took = format_ps(row["latency_ps"])
        segments = "1 segment" if row["segments"] == 1 else f"{row['segments']} segments"
        return Texts(str(row["kind"]), normal, f"{who}: {normal}, {segments}, {took}")
    return _fpdu_texts(row, who)


def _fpdu_texts(row: Mapping[str, Any], who: str) -> Texts:
    if row["stag"] is not None:
        place = f" STag {row['stag']:#010x} TO {row['to'] & _WORD:#x}"
    elif row["queue"] is not None:
        place = f" queue {row['queue']} MSN {row['msn']} MO {row['mo']}"
    else:
        place = ""
    last = ", last" if row["last"] else ""
    verdict = {
        "good": "", "off": ", CRC off", "cut": ", not whole in the capture",
        "bad": f", CRC {row['crc'] or 0:#010x} expected {row['crc_expected'] or 0:#010x}: {row['error']}",
    }[row["verdict"]]  # fmt: skip
    markers = f", {row['markers']} markers" if row["markers"] else ""
    normal = f"{row['kind']}{place} {row['payload_B']} B{last}"
    return Texts(
        str(row["kind"]), normal, f"{who} FPDU {row['number']}: {normal}{markers}{verdict}"
    )
