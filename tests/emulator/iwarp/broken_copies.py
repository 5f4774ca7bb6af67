"""Copies of our stack, each broken in one way, and the requirements that must find it out.

A copy is broken as a receiver by a quirk, as a sender by a fault, or by its setting. Its number must fail;
the others may fail or be inconclusive, for they follow from the same.
"""

from __future__ import annotations

from dataclasses import replace

from freezeframe.emulator.iwarp.faults import Order
from freezeframe.emulator.iwarp.mpa import Options
from freezeframe.emulator.iwarp.quirks import Quirks
from tests.emulator.iwarp.subject import PATIENT

CALLING = replace(PATIENT, peer_to_peer=True)
Copies = dict[int, tuple[Options, tuple[int, ...]]]


def _named(name: str, *follow: int, of: Options = PATIENT) -> tuple[Options, tuple[int, ...]]:
    return replace(of, quirks=Quirks(frozenset([name]))), follow


def _accepts(rule: str, *follow: int, of: Options = PATIENT) -> tuple[Options, tuple[int, ...]]:
    return replace(of, quirks=Quirks(accepts=frozenset([rule]))), follow


def _tolerates(layer: int, etype: int, code: int, *follow: int) -> tuple[Options, tuple[int, ...]]:
    return replace(PATIENT, quirks=Quirks(tolerates=(layer, etype, code))), follow


def _says(
    cause: tuple[int, int, int], other: tuple[int, int, int], *follow: int
) -> tuple[Options, tuple[int, ...]]:
    return replace(PATIENT, quirks=Quirks(says={cause: other})), follow


def _fault(
    name: str, *follow: int, message: int = 1, of: Options = PATIENT
) -> tuple[Options, tuple[int, ...]]:
    return replace(of, faults=(Order(name, message),)), follow


_STUCK = replace(PATIENT, startup_s=60.0)
_TERMINATES = (416, 417, 418, 419, 420, 423)

_ENHANCED = (117, 118, 119, 120, 123, 124, 125, 126)
_FPDUS = (
    104,
    105,
    *_ENHANCED,
    *range(201, 214),
    *range(301, 319),
    *range(401, 424),
    *range(501, 515),
)
"""Whatever takes a Reply, or reads FPDUs of the peer."""

RESPONDERS: Copies = {
    101: _named("no-reply", *range(102, 127), *_FPDUS),
    102: _fault("mpa-revision", 122),
    103: _named("reserved-sent"),
    104: _named("few-private-octets"),
    105: _named("reserved-bits"),
    106: _named("frame-at-once"),
    107: _accepts("mpa-key"),
    108: _fault("mpa-responder-first"),
    109: _accepts("mpa-revision"),
    110: _accepts("mpa-private-data-length"),
    111: _accepts("mpa-two-replies"),
    112: (_STUCK, (113,)),
    113: (_STUCK, (112,)),
    114: (replace(PATIENT, crc=False), (206,)),
    115: _fault("mpa-enhanced-mismatch", 116, *_ENHANCED),
    116: _fault("mpa-enhanced-mismatch", 115, *_ENHANCED),
    117: _fault("mpa-ord-over-ird"),
    118: _fault("mpa-model-mismatch", 119),
    119: _fault("mpa-rtr-not-offered"),
    120: _named("numbers-always"),
    121: _accepts("mpa-enhanced-short"),
    122: _fault("mpa-revision", 102),
    123: _tolerates(2, 0, 7),
    124: _named("rtr-write"),
    125: _named("rtr-send"),
    126: _named("rtr-read"),
    201: _named("no-crc-sent", 202, 203, 204),
    202: _named("no-markers"),
    203: _named("always-markers", *_FPDUS),
    204: _fault("mpa-pad"),
    205: _named("no-crc-checked", 206),
    206: _named("no-crc-checked", 205),
    207: _says((2, 0, 3), (2, 0, 2)),
    208: _named("marker-reserved"),
    209: _named("fpdu-at-once"),
    210: _named("few-fpdus"),
    211: _says((2, 0, 3), (0, 2, 0xFF), 207),
    212: _named("open-after-fin", 422),
    213: _named("short-fpdus"),
    301: _tolerates(1, 2, 6),
    302: _tolerates(1, 1, 4),
    303: _tolerates(1, 2, 1, *_TERMINATES),
    304: _tolerates(1, 2, 3, 316),
    305: _tolerates(1, 2, 4, 317),
    306: _tolerates(1, 2, 5, 318),
    307: _named("ddp-reserved"),
    308: _tolerates(1, 1, 0),
    309: _named("empty-checked", 124, 206, 208, 209, 210),
    310: _tolerates(1, 1, 1, 311, 313),
    311: _tolerates(1, 1, 1, 310, 313),
    312: _tolerates(1, 1, 3),
    313: _tolerates(1, 1, 1, 310, 311),
    314: _fault("rdmap-response-to", 313, 404, 409),
    315: _named("one-segment", 317),
    316: _tolerates(1, 2, 3, 304),
    317: _tolerates(1, 2, 4, 305),
    318: _tolerates(1, 2, 5, 306),
    401: _tolerates(0, 2, 5),
    402: _tolerates(0, 2, 6, 411, 412, 413, 414, 511),
    403: _named("rdmap-reserved"),
    404: _fault("rdmap-response-to", 313, 314, 409),
    405: _named("reads-reversed", 506),
    406: _tolerates(0, 1, 0, 418, 508),
    407: _tolerates(0, 1, 1, 509),
    408: _tolerates(0, 1, 4),
    409: _fault("rdmap-response-length", 313, 314, 404),
    410: _tolerates(0, 2, 0xFF, 510, 514),
    411: _tolerates(0, 2, 6, 402, 412, 413, 414, 511),
    412: _tolerates(0, 2, 6, 402, 411, 413, 414, 511),
    413: _tolerates(0, 2, 6, 402, 411, 412, 414, 511),
    414: _tolerates(0, 2, 6, 402, 411, 412, 413, 511),
    415: _tolerates(0, 1, 9),
    416: _fault("rdmap-terminate", *_FPDUS),
    417: _named("terminate-without-header", 418),
    418: _named("terminate-without-read"),
    419: _tolerates(1, 2, 1, 303, *_TERMINATES),
    420: _named("open-after-terminate"),
    421: _named("terminate-answered"),
    422: _named("open-after-fin", 212),
    423: _named("no-terminate"),
    501: _named("atomic-data", 502, 503, 504, 505, 506),
    502: _named("atomic-mask-all", 501, 503, 505, 506),
    503: _named("atomic-mask-0", 502, 504, 505),
    504: _named("atomic-compare-0"),
    505: _named("atomic-compare-all"),
    506: _named("atomic-identifier"),
    507: _named("atomic-unaligned"),
    508: _tolerates(0, 1, 0, 406, 418),
    509: _tolerates(0, 1, 1, 407),
    510: _tolerates(0, 2, 0xFF, 410, 514),
    511: _tolerates(0, 2, 6, 402, 411, 412, 413, 414),
    512: _named("atomic-reserved"),
    513: _named("no-immediate"),
    514: _tolerates(0, 2, 0xFF, 410, 510),
}

INITIATORS: Copies = {
    151: _fault("mpa-revision", 159, 160, 161, 166, of=CALLING),
    152: _named("reserved-sent", of=CALLING),
    153: _fault("mpa-initiator-early", *range(154, 159), *range(162, 167), 202, of=CALLING),
    154: _fault("mpa-initiator-early", *range(153, 159), *range(162, 167), 202, of=CALLING),
    155: _accepts("mpa-key", of=CALLING),
    156: _accepts("mpa-revision", of=CALLING),
    157: _accepts("mpa-private-data-length", of=CALLING),
    158: _accepts("mpa-two-requests", of=CALLING),
    159: _named("reserved-bits", of=CALLING),
    160: _named("frame-at-once", of=CALLING),
    161: _named("few-private-octets", of=CALLING),
    162: (replace(CALLING, startup_s=60.0), ()),
    163: _accepts("mpa-ord-over-ird", of=CALLING),
    164: _accepts("mpa-model-mismatch", of=CALLING),
    165: _accepts("mpa-enhanced-mismatch", of=CALLING),
    166: _fault("mpa-rtr-missing", of=CALLING),
}
