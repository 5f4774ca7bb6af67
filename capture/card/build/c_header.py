"""The C header of a card's device: offsets and fields of its registers, and the numbers of what the card names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from freezeframe.capture.card.build.ports import module_name
from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.recording import built_features
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.errors import InputError


def c_header(card: ElaboratedCard) -> str:
    """Return the text of the header; names begin with that of the card, numbers are those of the elaborated card.

    Raises:
        InputError: two names of the card would be one macro.
    """
    defines = list(_defines(card))
    doubled = [name for name, count in Counter(name for name, _ in defines).items() if count > 1]
    if doubled:
        raise InputError(
            f"card {card.name}: two of its names give the C header one macro, {doubled[0]}; change one of them: "
            "between a name and what stands in it the header has _"
        )
    guard = f"{module_name(card).upper()}_H"
    what, page = ("Numbers", "c-hooks") if card.of_hooks else ("Registers", "card-map")
    return "\n".join([
        f"/* {what} of card {card.name}, made by 'freezeframe card build'; docs/{page}.md says what each is. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        *(f"#define {name} {value}" for name, value in defines),
        f"#endif /* {guard} */",
        "",
    ])  # fmt: skip


def _defines(card: ElaboratedCard) -> Iterator[tuple[str, str]]:
    prefix = card.name.replace("-", "_").upper()
    yield f"{prefix}_CARD_HASH", f"0x{card.hash:016x}ull"
    if card.of_hooks:
        yield f"{prefix}_CAUSES", f"{len(card.causes)}u"
        yield f"{prefix}_CLK_HZ", f"{card.clocks[0].said.hz}u"
    else:
        yield from _registers(card, prefix)
    numbers = {
        "CLOCK": [(clock.name, clock.number) for clock in card.clocks],
        "CAUSE": [(cause.name, cause.bit) for cause in card.causes],
        "TAP_NUMBER": [(tap.name, tap.number) for tap in card.taps],
        "MEMORY": [(memory.name, memory.number) for memory in memories_of_card(card)],
        "COUNTER": [(name, number) for number, (name, _) in enumerate(card.counters)],
        "EVENT": [(s.name, s.number) for s in card.sources if not s.states],
        "MACHINE": [(s.name, s.number) for s in card.sources if s.states],
        "HISTOGRAM": [(name, number) for number, name in enumerate(card.said.histogram)],
    }
    for source in card.sources:
        numbers[f"STATE_{_upper(source.name)}"] = [(n, k) for k, n in enumerate(source.states)]
    for what, named in numbers.items():
        for name, number in named:
            yield f"{prefix}_{what}_{_upper(name)}", f"{number}u"


def _registers(card: ElaboratedCard, prefix: str) -> Iterator[tuple[str, str]]:
    registers = card_map(card, built_features(card))
    yield f"{prefix}_SIZE", f"0x{registers.size_B:x}u"
    for info in registers.registers:
        name = f"{prefix}_{_upper(info.name)}"
        yield name, f"0x{info.address:05x}u"
        for place, (count, stride_B) in enumerate(info.dims):
            suffix = str(place) if len(info.dims) > 1 else ""
            yield f"{name}_COUNT{suffix}", f"{count}u"
            yield f"{name}_STRIDE{suffix}", f"{stride_B}u"
        for field in info.fields:
            if field.width < 32:
                yield f"{name}_{_upper(field.name)}_LSB", f"{field.lsb}u"
                yield f"{name}_{_upper(field.name)}_MASK", f"0x{field.mask:08x}u"
    for window in registers.windows:
        yield f"{prefix}_{_upper(window.name)}", f"0x{window.address:05x}u"
        yield f"{prefix}_{_upper(window.name)}_WORDS", f"{window.words}u"


def _upper(name: str) -> str:
    return name.replace(".", "_").replace("-", "_").upper()
