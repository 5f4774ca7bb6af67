"""Terms as a user writes them, the registers they become, and a trigger that is set and read back."""

from __future__ import annotations

import pytest

from freezeframe.capture.errors import InputError, TargetError
from freezeframe.capture.recorder.trigger import (
    Trigger,
    clear_trigger,
    parse_term,
    read_trigger,
    set_trigger,
    term_of,
)
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.trigger_term import Term
from freezeframe.emulator.target import EmulatorTarget
from tests.capture.recorder.test_provoke import LosesAllWrites, LosesEveryOtherWrite
from tests.emulator.reading import packets_of, pair

US = 1_000_000
HEAD, BODY, TAIL, ANY = 1 << 1, 1 << 2, 1 << 3, 0xFFFF


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("kind=TAIL", Term(0, 0, TAIL)),
        ("kind=HEAD|BODY", Term(0, 0, HEAD | BODY)),
        ("data=0x1234/0xffff", Term(0x1234, 0xFFFF, ANY)),
        ("data=0xabcd/0xff", Term(0xCD, 0xFF, ANY)),
        ("data=5", Term(5, (1 << 64) - 1, ANY)),
        ("flow=3", Term(0x300, 0x7F00, HEAD)),
        ("flow=3,type=RDMA_WRITE", Term(0x301, 0x7F0F, HEAD)),
        ("seq=0x10,kind=BODY", Term(0x10 << 32, 0xFFFF << 32, BODY)),
        (" type = 2 , length=512".replace(" = ", "="), Term(2 | 512 << 16, 0xF | 0x3FF << 16, HEAD)),
    ],
)  # fmt: skip
def test_a_term_is_value_mask_and_kinds(text: str, term: Term) -> None:
    """docs/formats.md section 3: type [0,4] flow [8,7] length [16,10] seq [32,16]."""
    assert parse_term(text) == term


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flow=8", "flow 8 is in no header of card forth: 0 to 7; data=VALUE/MASK takes any bits"),
        ("flow=99", "flow 99 is in no header of card forth: 0 to 7; "),
        ("length=513", "length 513 is in no header of card forth: 0 to 512; "),
        (
            "type=9",
            r"no packet of card forth is of type 9; there is RDMA_WRITE \(1\), NOTIFICATION",
        ),
    ],
)
def test_what_no_header_of_the_card_has_is_refused_before_anything_is_written(
    text: str, message: str
) -> None:
    """The emulated card has 8 flows; docs/formats.md section 3: 0 to 512 words, types 1 to 4."""
    device = open_devices(EmulatorTarget())[0]
    assert device.identity.flows_count == 8
    with pytest.raises(InputError, match=message):
        term_of(device, text)


@pytest.mark.parametrize(
    "text", ["flow=7", "length=512", "type=4", "type=CREDIT", "data=0x6300/0x7f00", "seq=65535"]
)
def test_what_a_header_can_have_is_taken_and_so_is_any_pattern_of_bits(text: str) -> None:
    device = open_devices(EmulatorTarget())[0]
    assert term_of(device, text) == parse_term(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flow", "'flow' is not NAME=VALUE"),
        ("colour=3", "'colour' is unknown; there is kind, data, type, flags, flow"),
        ("flow=128", "flow 128 does not fit 7 bits"),
        ("flow=red", "'red' is not a number"),
        ("kind=FLAG", "kind 'FLAG'; at a tap there is HEAD, BODY, TAIL"),
        ("data=0x1ffffffffffffffff", "does not fit 64 bits"),
        ("flow=3,flow=4", "'flow=4' contradicts what stands before it"),
        ("flow=3,flow=\r\n4", r"'flow=\\r\\n4' contradicts what stands before it"),
    ],
)
def test_a_term_that_cannot_be_is_one_clear_error(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_term(text)


def test_a_trigger_stands_as_it_was_set_although_every_other_write_is_lost() -> None:
    (device, _) = open_devices(LosesEveryOtherWrite(EmulatorTarget(seed=17)))
    terms = (Term(0x1122334455667788, 0xFF00FF00FF00FF00, HEAD), Term(5, 0xF, TAIL))
    wanted = Trigger("tx_deq", terms, count=3, limit_cycles=700, edge=True)
    set_trigger(device, wanted)
    assert read_trigger(device) == wanted
    assert device.read("trigger.term.value_hi", 0) == 0x11223344
    clear_trigger(device)
    assert not read_trigger(device).enabled


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        (Trigger("rx", (Term(),)), "tap 'rx': there is tx_enq, tx_deq, rx_enq, rx_deq"),
        (Trigger("rx_enq", ()), "0 terms: a trigger has one or two"),
        (Trigger("rx_enq", (Term(),), count=1 << 32), "count 4294967296: does not fit 32 bits"),
    ],
    ids=["tap", "terms", "count"],
)
def test_a_trigger_that_cannot_be_is_refused_and_nothing_is_written(
    trigger: Trigger, message: str
) -> None:
    target = LosesEveryOtherWrite(EmulatorTarget(seed=17))
    with pytest.raises(InputError, match=message):
        set_trigger(open_devices(target)[0], trigger)
    assert target.written == []


def test_a_card_without_such_a_trigger_is_told() -> None:
    (device, _) = open_devices(LosesAllWrites(EmulatorTarget(seed=17)))
    with pytest.raises(TargetError, match=r"did not take trigger\.term\.value_lo"):
        set_trigger(device, Trigger("rx_enq", (Term(1, 1, HEAD),)))


def test_a_trigger_on_a_sequence_number_freezes_at_that_packet() -> None:
    target, a, _ = pair(seed=17)
    (device, _) = open_devices(target)
    set_trigger(device, Trigger("tx_enq", (parse_term("seq=5"),)))
    assert target.run_until_frozen(20_000 * US)
    assert a.read("ctl.causes") == 1 << 1
    numbers = [packet.header >> 32 & 0xFFFF for packet in packets_of(a.words(0))]
    assert 5 in numbers
