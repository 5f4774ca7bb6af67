"""What one key says of another: clocks, formats, taps and counters that are there, widths that fit, paths that end."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.elaborated import BUILT_IN_CAUSES, LOG
from freezeframe.capture.card.hooks import problems_of_hooks
from freezeframe.capture.card.sequences import PEER, goes_on, problems_of_sequences
from freezeframe.capture.card.tables import (
    CardFile,
    Cause,
    CrcCheck,
    Format,
    Law,
    Path,
    Tap,
)
from freezeframe.capture.card.trigger_parts import problems_of_trigger
from freezeframe.capture.card.wires import NamedWire, wires_of
from freezeframe.capture.card.wording import shown
from freezeframe.capture.nearest import no_such

Where = tuple[str | int, ...]
_NARROW = (8, 16, 32)
_ETHERNET_FIELDS = ("dst", "src", "type", "ip.id", "ip.src", "ip.dst", "tcp.seq", "udp.dst")
_LINK_FIELDS = ("type", "flow", "seq", "length")
_MOST_TAPS_BESIDE_A_LOG = 63  # the log takes the place of one
_AT_A_TAP = ("fcs", "length", "user", "no-ready", "gap", "sequence")


def problems_of(card: CardFile) -> Iterator[tuple[Where, str]]:
    """Yield where and what: references to nothing, and values that do not fit each other."""
    if card.extends:  # a file's is gone once it is read; this is the text of a device or a capture
        yield ("extends",), f"{shown(card.extends)} stands in a text that has to be whole"
    yield from _clocks(card)
    yield from _map(card)
    yield from problems_of_hooks(card)
    for name, shape in card.format.items():
        yield from _format(("format", name), shape)
    for name, tap in card.tap.items():
        yield from _tap(card, ("tap", name), tap)
    for name, path in card.path.items():
        yield from _path(card, ("path", name), path)
    for name, cause in card.cause.items():
        yield from _cause(card, ("cause", name), cause)
    yield from _counters(card)
    yield from _logged(card)
    yield from problems_of_sequences(card)
    yield from problems_of_trigger(card)
    yield from _wires(card)
    yield from _laws(card)
    for field in card.identity.fields:
        yield from _known_field(card, ("identity", "fields"), field)
    if card.identity.by == "fields" and not card.identity.fields:
        yield ("identity",), 'identity: by = "fields" needs fields = ["FORMAT.FIELD"]'


def _clocks(card: CardFile) -> Iterator[tuple[Where, str]]:
    buses = [name for name, clock in card.clock.items() if clock.registers]
    if len(buses) != 1:
        which = ", ".join(buses) or "none"
        yield (
            ("clock",),
            f"one clock has registers = true, the bus on which the host reads; here: {which}",
        )


def _map(card: CardFile) -> Iterator[tuple[Where, str]]:
    """Check what belongs to the one map or to the other."""
    if card.card.map == 1:
        if not card.card.map_hash:
            yield ("card", "map"), "card: map = 1 needs map_hash, by which a device of it is known"
        return
    for where, said in (
        (("card", "map_hash"), card.card.map_hash),
        *(
            (("path", name, "stretch", n), stretch.capacity)
            for name, path in card.path.items()
            for n, stretch in enumerate(path.stretch)
        ),
        *((("histogram", name), part.of == "levels") for name, part in card.histogram.items()),
    ):
        if said:
            yield where, f"{where[0]} {where[1]}: {_ONLY_MAP_1[str(where[0])]} belongs to map = 1"


_ONLY_MAP_1 = {"card": "it", "path": "capacity", "histogram": 'of = "levels"'}


def _format(where: Where, shape: Format) -> Iterator[tuple[Where, str]]:
    name = where[1]
    if shape.is_ != "fields":
        for key in ("field", "check", "length", "length_plus_B"):
            if getattr(shape, key):
                yield (
                    (*where, key),
                    f'format {name}: {key} belongs to is = "fields", not {shape.is_}',
                )
        return
    if not shape.field:
        yield where, f"format {name}: fields without one [format.{name}.field.NAME]"
    if shape.length and shape.length not in shape.field:
        yield (*where, "length"), f"format {name}: {no_such('field', shape.length, shape.field)}"
    for field_name, field in shape.field.items():
        at = (*where, "field", field_name)
        for value, what in (
            (field.constant, "constant"),
            *((number, f"names.{word}") for word, number in field.names.items()),
        ):
            if value is not None and not 0 <= value < 1 << field.bits:
                yield (
                    at,
                    f"format {name}: field {field_name}: {what} {shown(value)} does not fit {field.bits} bits",
                )
    for check_name, check in shape.check.items():
        yield from _crc((*where, "check", check_name), check)


def _crc(where: Where, check: CrcCheck) -> Iterator[tuple[Where, str]]:
    if bool(check.crc) == bool(check.width):
        yield (
            where,
            f"check {where[-1]}: name a crc of the catalogue, or its width, poly, init, refin, refout, xorout",
        )
    for key in ("poly", "init", "xorout"):
        if check.width and getattr(check, key) >= 1 << check.width:
            yield (
                where,
                f"check {where[-1]}: {key} {getattr(check, key):#x} does not fit {check.width} bits",
            )


def _tap(card: CardFile, where: Where, tap: Tap) -> Iterator[tuple[Where, str]]:
    name = where[1]
    if tap.clock not in card.clock:
        yield (*where, "clock"), f"tap {name}: {no_such('clock', tap.clock, card.clock)}"
    if tap.format and tap.format not in card.format:
        yield (*where, "format"), f"tap {name}: {no_such('format', tap.format, card.format)}"
    if tap.bits not in _NARROW and tap.bits % 64:
        nearest = min(2**20, -(-tap.bits // 64) * 64)
        yield (
            (*where, "bits"),
            (
                f"tap {name}: {tap.bits} bits: 8, 16, 32 or a multiple of 64; widen it to {nearest} in the card"
            ),
        )
    if tap.depth & (tap.depth - 1):
        yield (
            (*where, "depth"),
            f"tap {name}: depth {tap.depth}: a power of two, for instance {1 << tap.depth.bit_length()}",
        )
    if tap.bits == 8 and tap.keep != "none":
        yield (
            (*where, "keep"),
            f'tap {name}: a stream of 8 bits has no byte to switch off; keep = "none"',
        )
    if tap.time == "loose" and tap.bits >= 64:
        yield (
            (*where, "time"),
            f'tap {name}: time = "loose" packs streams below 64 bits; this one has {tap.bits}',
        )
    if (
        tap.user is not None
        and tap.user.bad_frame is not None
        and tap.user.bad_frame >= tap.user.bits
    ):
        yield (
            (*where, "user"),
            f"tap {name}: user.bad_frame {tap.user.bad_frame}: the bits are 0..{tap.user.bits - 1}",
        )
    if tap.kind == "words" and tap.format:
        yield (*where, "format"), f'tap {name}: kind = "words" has no packets, so no format'
    if tap.store != "all" and tap.kind != "axi-stream":
        yield (
            (*where, "store"),
            f'tap {name}: store keeps parts of packets, and kind = "{tap.kind}" has no packets; say "all"',
        )
    shape = card.format.get(tap.format)
    no_verdict = tap.user is None or tap.user.bad_frame is None
    if shape is not None and shape.is_ == "ethernet" and shape.fcs == "user-bit" and no_verdict:
        yield (
            where,
            f'tap {name}: format {tap.format} has fcs = "user-bit", so user = {{ bits, bad_frame }} is needed',
        )


def _path(card: CardFile, where: Where, path: Path) -> Iterator[tuple[Where, str]]:
    name = where[1]
    for tap in path.taps:
        if tap not in card.tap:
            yield (*where, "taps"), f"path {name}: {no_such('tap', tap, card.tap)}"
    twice = sorted({tap for tap in path.taps if path.taps.count(tap) > 1})
    if twice:
        yield (
            (*where, "taps"),
            f"path {name}: runs in a circle: {', '.join(twice)} stands in it twice",
        )
    ends_here = any(f"{card.card.name}:{name}" == other.far_end for other in card.path.values())
    if len(path.taps) == 1 and not path.far_end and not ends_here:
        yield (*where, "taps"), f"path {name}: one tap alone; a path has two, or a far_end"
    between = len(path.taps) - 1
    if path.stretch and len(path.stretch) not in (between, between + bool(path.far_end)):
        more = f", {between + 1} with the way to its far_end," if path.far_end else ""
        yield (
            (*where, "stretch"),
            (
                f"path {name}: {len(path.stretch)} stretches between {len(path.taps)} taps; "
                f"{between}{more} or none"
            ),
        )
    for number, stretch in enumerate(path.stretch):
        at = (*where, "stretch", number)
        if (
            stretch.drops is not None
            and stretch.drops.counter
            and stretch.drops.counter not in card.counter
        ):
            yield (
                at,
                f"path {name}: drops: {no_such('counter', stretch.drops.counter, card.counter)}",
            )
        if stretch.level and stretch.level not in card.bank:
            yield (
                at,
                f"path {name}: level: {no_such('register of the bank', stretch.level, card.bank)}",
            )
        for field in stretch.rewrites:
            yield from _known_field(card, at, field)


def _known_field(card: CardFile, where: Where, field: str) -> Iterator[tuple[Where, str]]:
    """Check ``FORMAT.FIELD``."""
    name, _, rest = field.partition(".")
    shape = card.format.get(name)
    if shape is None:
        yield where, f"{field}: {no_such('format', name, card.format)}"
        return
    known = {
        "ethernet": dict.fromkeys(_ETHERNET_FIELDS),
        "link": dict.fromkeys(_LINK_FIELDS),
        "fields": dict.fromkeys(shape.field),
        "raw": {},
    }[shape.is_]
    if rest not in known:
        yield where, f"{field}: {no_such(f'field of format {name}', rest, known)}"


def _cause(card: CardFile, where: Where, cause: Cause) -> Iterator[tuple[Where, str]]:
    name = where[1]
    if name in BUILT_IN_CAUSES[card.card.map]:
        yield where, f"cause {name}: every card has one of that name; give it another"
    if not card.tap and not cause.check and not cause.wire:
        return  # of C hooks: the program says when
    if bool(cause.check) == bool(cause.wire):
        yield (
            where,
            f"cause {name}: a check that is generated, or a wire of the card: one of the two",
        )
        return
    if cause.wire:
        if cause.tap and cause.tap not in card.tap:
            yield (*where, "tap"), f"cause {name}: {no_such('tap', cause.tap, card.tap)}"
        if cause.clock and cause.clock not in card.clock:
            yield (*where, "clock"), f"cause {name}: {no_such('clock', cause.clock, card.clock)}"
        return
    tap = card.tap.get(cause.tap)
    if cause.check in _AT_A_TAP and tap is None:
        yield (*where, "tap"), f"cause {name}: {no_such('tap', cause.tap, card.tap)}"
        return
    if cause.check in ("no-ready", "watchdog") and not cause.cycles:
        yield where, f"cause {name}: {cause.check} needs cycles"
    if tap is None:
        return
    shape = card.format.get(tap.format)
    if cause.check == "user" and (tap.user is None or tap.user.bad_frame is None):
        yield where, f"cause {name}: tap {cause.tap} has no user = {{ bits, bad_frame }}"
    if cause.check == "no-ready" and not tap.ready:
        yield where, f"cause {name}: tap {cause.tap} has no ready"
    if cause.check == "fcs" and (
        shape is None or shape.is_ not in ("ethernet", "link") or shape.fcs != "present"
    ):
        yield where, f"cause {name}: tap {cause.tap} has no format with its FCS present"
    if cause.check == "length" and (shape is None or shape.is_ == "raw"):
        yield where, f"cause {name}: tap {cause.tap} has no format that could say so"
    if cause.check == "sequence":
        yield from _sequence(where, cause, tap, shape)


def _sequence(
    where: Where, cause: Cause, tap: Tap, shape: Format | None
) -> Iterator[tuple[Where, str]]:
    """Check that what counts up is a field of the tap's own format: the checker is built from its place."""
    name, form = where[1], tap.format or "raw"
    if shape is None or shape.is_ != "fields":
        yield (
            where,
            f'cause {name}: a sequence is a field of a format with is = "fields"; tap {cause.tap} has format {form}'
            + (f", {shape.is_}" if shape is not None else "")
            + ": give it such a format, or the cause a wire",
        )
        return
    of, _, field = cause.field.rpartition(".")
    known = ", ".join(f"{form}.{each}" for each in shape.field)
    if of != form or field not in shape.field:
        said = (
            f"{cause.field} is no field of format {form}"
            if cause.field
            else "field is missing, the one that counts up"
        )
        yield where, f"cause {name}: {said}; tap {cause.tap} has {known}"


def _counters(card: CardFile) -> Iterator[tuple[Where, str]]:
    for name, counter in card.counter.items():
        where = ("counter", name)
        if bool(counter.counts) == bool(counter.wire):
            yield where, f"counter {name}: counts something at a tap, or a wire: one of the two"
        elif (counter.counts or counter.tap) and counter.tap not in card.tap:
            yield (*where, "tap"), f"counter {name}: {no_such('tap', counter.tap, card.tap)}"
    for table, parts in (
        ("counter", card.counter),
        ("bank", card.bank),
        ("event", card.event),
        ("states", card.states),
    ):
        for name, part in parts.items():
            if part.clock and part.clock not in card.clock:
                yield (
                    (table, name, "clock"),
                    f"{table} {name}: {no_such('clock', part.clock, card.clock)}",
                )


def _logged(card: CardFile) -> Iterator[tuple[Where, str]]:
    """Check what is logged and what is put into histograms."""
    for name, histogram in card.histogram.items():
        where = ("histogram", name)
        tap = card.tap.get(histogram.tap)
        if tap is None:
            yield where, f"histogram {name}: {no_such('tap', histogram.tap, card.tap)}"
        elif tap.kind != "axi-stream" and card.card.map == 2:
            yield (
                where,
                f'histogram {name}: tap {histogram.tap} has no packets; it is kind = "{tap.kind}"',
            )
    for name in card.states.keys() & card.event.keys():
        yield ("states", name), f"states {name}: there is an [event.{name}] too; another name"
    for name, states in card.states.items():
        twice = sorted({state for state in states.names if states.names.count(state) > 1})
        if twice:
            yield ("states", name, "names"), f"states {name}: {twice[0]} stands in names twice"
    if (card.event or card.states) and len(card.tap) > _MOST_TAPS_BESIDE_A_LOG:
        text = f"{len(card.tap)} taps; beside events or states there are at most {_MOST_TAPS_BESIDE_A_LOG}"
        yield ("tap",), text
    if (card.event or card.states) and LOG in card.tap:
        yield ("tap", LOG), f"tap {LOG}: is the name of the log of events and states; another name"


def _wires(card: CardFile) -> Iterator[tuple[Where, str]]:
    """Check that a wire that is named several times is the same each time: it is one port."""
    bus = next((name for name, clock in card.clock.items() if clock.registers), "")
    seen: dict[str, NamedWire] = {}
    for named in wires_of(card):
        first = seen.setdefault(named.wire, named)
        for what, here, there in (
            ("bits", named.bits, first.bits),
            ("clock", named.clock or bus, first.clock or bus),
        ):
            if here != there:
                yield (
                    (named.table, named.name),
                    f"{named.table} {named.name}: wire {named.wire} has {what} {here}, and {there} in "
                    f"[{first.table}.{first.name}]",
                )


def _laws(card: CardFile) -> Iterator[tuple[Where, str]]:
    own = {**card.counter, **card.bank}
    for name, law in card.law.items():
        terms = own | {PEER + term: own[term] for term in own if law.scope == "link"}
        for term in (*law.plus, *law.minus):
            if term not in terms and not (card.card.map == 1 and "." in term):
                yield (
                    ("law", name),
                    f"law {name}: {no_such('counter or register of the bank', term, terms)}",
                )
        yield from _bounds(card, name, law)


def _bounds(card: CardFile, name: str, law: Law) -> Iterator[tuple[Where, str]]:
    least, most = law.least, law.most
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield ("law", name), f"law {name}: least {least} is above most {most}"
    for key in ("least", "most"):
        bound = getattr(law, key)
        if bound and isinstance(bound, str) and (card.card.map != 1 or "." not in bound):
            yield (
                ("law", name, key),
                f'law {name}: {key} = {bound!r}: a number, "" for none, or on map 1 a term such as '
                '"parameter.NAME"',
            )
    if card.card.map != 1 and (law.scope not in ("device", "link") or law.modulus or law.needs):
        yield (
            ("law", name),
            f'law {name}: modulus, needs and every scope but "link" belong to map = 1',
        )
    if card.card.map != 1 and law.scope == "link" and not goes_on(card):
        yield ("law", name), f'law {name}: scope = "link" needs a path with a far_end'
