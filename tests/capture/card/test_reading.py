"""A card file is read whole or refused, each problem with its line, its place and the nearest right word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.card.lines import key_lines
from freezeframe.capture.card.reading import MOST_B, parse_card, read_card
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.errors import InputError

MAC = """\
schema = 1
[card]
name = "mac10g"
version = "1.0"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 156_250_000
[format.eth]
is = "ethernet"
[tap.rx_in]
kind = "axi-stream"
clock = "rx"
keep = "tail"
user = { bits = 1, bad_frame = 0 }
recorder = "fast"
format = "eth"
[tap.rx_out]
kind = "axi-stream"
clock = "rx"
ready = true
format = "eth"
[path.rx]
taps = ["rx_in", "rx_out"]
[[path.rx.stretch]]
drops = { counter = "rx_dropped", whole = true }
capacity_words = 4096
[cause.bad_fcs]
check = "fcs"
tap = "rx_in"
[counter.rx_dropped]
wire = "rx_drop"
"""


def problems(text: str) -> list[str]:
    with pytest.raises(CardError) as refused:
        parse_card(text, "c")
    return str(refused.value).splitlines()


def test_what_is_not_said_has_its_default() -> None:
    card = parse_card(MAC)
    tap = card.tap["rx_in"]
    assert (tap.bits, tap.depth, tap.store, tap.time, tap.ready) == (
        64,
        2048,
        "all",
        "exact",
        False,
    )
    assert (card.clock["rx"].ppm, card.identity.by, card.transport.bus) == (
        100,
        "content",
        "axi4-lite",
    )


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('keep = "tail"', 'kep = "tail"', "c:15: unknown key 'kep' in tap.rx_in; did you mean keep?"),
        ('keep = "tail"', 'keep = "tails"',
         "c:15: tap.rx_in.keep: 'tails' is not one of none, tail, any; did you mean tail?"),
        ("bad_frame = 0", "bad_frme = 0",
         "c:16: unknown key 'bad_frme' in tap.rx_in.user; did you mean bad_frame?"),
        ('"tail"\n', '"tail"\nbits = "64"\n', "c:16: tap.rx_in.bits: '64' is not a whole number from 8 to 1,024"),
        ('"tail"\n', '"tail"\nbits = 100\n',
         "c:16: tap rx_in: 100 bits: 8, 16, 32 or a multiple of 64; widen it to 128 in the card"),
        ('"tail"\n', '"tail"\nbits = 8\n',
         'c:15: tap rx_in: a stream of 8 bits has no byte to switch off; keep = "none"'),
        ('"tail"\n', '"tail"\ndepth = 1000\n', "c:16: tap rx_in: depth 1000: a power of two, for instance 1024"),
        ("rx_dropped\", whole", "rx_droped\", whole",
         "c:26: path rx: drops: there is no counter 'rx_droped'; did you mean rx_dropped?"),
        ('["rx_in", "rx_out"]', '["rx_in", "rx_ot"]',
         "c:25: path rx: there is no tap 'rx_ot'; did you mean rx_out?"),
        ('["rx_in", "rx_out"]', '["rx_in", "rx_in"]', "c:25: path rx: runs in a circle: rx_in stands in it twice"),
        ('["rx_in", "rx_out"]', '["rx_in"]', "c:25: path rx: one tap alone; a path has two, or a far_end"),
        ("registers = true", "ppm = 50",
         "c:5: one clock has registers = true, the bus on which the host reads; here: none"),
        ('tap = "rx_in"', 'tap = "rx_out_"',
         "c:31: cause bad_fcs: there is no tap 'rx_out_'; did you mean rx_out?"),
        ('tap = "rx_in"\n', "", "c:29: cause bad_fcs: tap is missing; there is rx_in, rx_out"),
        ('name = "mac10g"', 'name = "MAC"',
         "c:3: card.name: 'MAC' is not text \"...\" of small letters, digits, _ and -, a letter first, at most 32"),
        ('wire = "rx_drop"', 'wire = "1x"',
         "c:33: counter.rx_dropped.wire: '1x' is not text \"...\" of letters, digits and _, no digit first, at most "
         '64, or ""'),
        ("ready = true", "ready = 1", "c:22: tap.rx_out.ready: 1 is not true or false"),
        ('recorder = "fast"', "store = { first_bytes = 9 }",
         "c:17: tap.rx_in.store.first_bytes: 9 is not a whole number from 8 to 65,528, a multiple of 8"),
        ('is = "ethernet"', 'is = "fields"\n[format.eth.field.Seq]\nat_bit = 0\nbits = 8',
         "c:12: format.eth.field: 'Seq': a name is small letters, digits and _, a letter first, at most 32"),
        ('is = "ethernet"', 'is = "fields"\n[format.eth.field.seq]\nat_bit = 0\nbits = 80',
         "c:14: format.eth.field.seq.bits: 80 is not a whole number from 1 to 64"),
        ('keep = "tail"', "keep = tail", "c:15: no TOML: invalid value, at column 8"),
        ('check = "fcs"', 'check = "sequence"\nfield = "eth.ip.id"',
         'c:29: cause bad_fcs: a sequence is a field of a format with is = "fields"; tap rx_in has format eth, '
         "ethernet: give it such a format, or the cause a wire"),
        ('is = "ethernet"', 'is = "ethernet"\nfcs = "stripped"',
         "c:30: cause bad_fcs: tap rx_in has no format with its FCS present"),
        ('check = "fcs"', 'check = "no-ready"', "c:29: cause bad_fcs: no-ready needs cycles"),
        ('wire = "rx_drop"', "bits = 16",
         "c:32: counter rx_dropped: counts something at a tap, or a wire: one of the two"),
        ("schema = 1", "schema = 2", "c:1: schema: 2 is not 1, the only one there is"),
        ("[counter.rx_dropped]", "[countr.rx_dropped]", "c:32: unknown key 'countr'; did you mean counter?"),
        ("[clock.rx]", "[clock.Rx]",
         "c:8: clock 'Rx': a name is small letters, digits and _, a letter first, at most 32"),
        ("[clock.rx]", "[clock.bus]", "c:8: table [clock.bus] stands twice; join the two, or give one another name"),
        ("[cause.bad_fcs]", "[cause.host]", "c:29: cause host: every card has one of that name; give it another"),
        ("100_000_000", "9" * 5_000, "c: a number in it has thousands of digits; no key takes one"),
        ("100_000_000", "0x" + "f" * 5_000,
         "c:6: clock.bus.hz: a number of 20,000 bits is not a whole number from 1,000 to 2,000,000,000"),
        ('name = "mac10g"', 'name = "mac10g"\nname = "two"', "c:4: a key of this table stands twice; keep one"),
    ],)  # fmt: skip
def test_each_problem_is_one_line_with_place_and_remedy(old: str, new: str, line: str) -> None:
    assert MAC.count(old) >= 1
    assert line in problems(MAC.replace(old, new, 1))


def test_all_problems_are_told_at_once_and_a_wrong_table_hides_no_other() -> None:
    text = MAC.replace('clock = "rx"', 'clok = "rx"').replace("hz = 156_250_000", "hz = 1")
    assert problems(text) == [
        "c:9: clock.rx.hz: 1 is not a whole number from 1,000 to 2,000,000,000",
        "c:14: unknown key 'clok' in tap.rx_in; did you mean clock?",
        "c:21: unknown key 'clok' in tap.rx_out; did you mean clock?",
    ]


def test_a_law_over_a_counter_that_is_not_built_is_refused() -> None:
    text = MAC + '[law.kept]\nplus = ["rx_dropped"]\nminus = ["rx_packets"]\n'
    assert problems(text)[0].startswith(
        "c:34: law kept: there is no counter or register of the bank 'rx_packets'"
    )


def test_an_empty_file_and_one_of_other_types_say_what_is_missing() -> None:
    assert problems("") == [
        "c:1: card is missing; every card file has it",
        "c:1: clock is missing; every card file has it",
        "c:1: schema is missing; every card file has it",
    ]
    assert problems("schema = 1\ncard = 3\nclock = [1]\n[tap]\na = 1\n") == [
        "c:2: card: 3 is not a table { name, version, doc, rom, map, map_hash }",
        "c:3: clock: a list of 1 is not a table",
        "c:5: tap.a: 1 is not a table { kind, clock, bits, keep, user, ready, interleaved, time, recorder, format, "
        "depth, store, doc }",
    ]


def test_a_thousand_taps_and_ten_megabytes_are_refused_in_one_line(tmp_path: Path) -> None:
    taps = "".join(f'[tap.t{n}]\nkind = "fifo"\nclock = "rx"\n' for n in range(1000))
    assert problems(MAC + taps) == ["c:12: 1,002 tables tap.*: a card has at most 64"]
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * (10 << 20))
    with pytest.raises(InputError, match=rf"larger than {MOST_B:,} B"):
        read_card(large)


LOGS = (
    MAC
    + """\
[event.bad]
wire = "bad"
value = "bad_code"
clock = "rx"
[states.fsm]
wire = "state"
names = ["idle", "run"]
[histogram.lengths]
of = "lengths"
tap = "rx_in"
"""
)


@pytest.mark.parametrize(
    ("was", "is_now", "said"),
    [
        ('of = "lengths"\ntap = "rx_in"', 'of = "lengths"\ntap = "rx_inn"',
         "c:41: histogram lengths: there is no tap 'rx_inn'; did you mean rx_in?"),
        ('of = "lengths"\ntap = "rx_in"', 'of = "lengths"\ntap = "w"\n[tap.w]\nkind = "words"\nclock = "rx"',
         'c:41: histogram lengths: tap w has no packets; it is kind = "words"'),
        ('of = "lengths"', 'of = "sizes"', "c:42: histogram.lengths.of: 'sizes' is not one of lengths, gaps, levels"),
        ('names = ["idle", "run"]', 'names = ["idle"]',
         'c:40: states.fsm.names: a list of 1 is not a list [...] of 2 to 256, each text "..." of small letters, '
         "digits and _, a letter first, at most 32"),
        ('names = ["idle", "run"]', 'names = ["idle", "idle"]', "c:40: states fsm: idle stands in names twice"),
        ("[states.fsm]", "[states.bad]", "c:38: states bad: there is an [event.bad] too; another name"),
        ('wire = "state"', 'wire = "bad_code"',
         "c:38: states fsm: wire bad_code has bits 1, and 32 in [event.bad]"),
        ('wire = "bad"', 'wire = "rx_drop"',
         "c:34: event bad: wire rx_drop has clock rx, and bus in [counter.rx_dropped]"),
        ('value = "bad_code"', 'value = "bad_code"\nbits = 41',
         "c:37: event.bad.bits: 41 is not a whole number from 1 to 40"),
        ("[tap.rx_out]", '[tap.event_log]\nkind = "words"\nclock = "rx"\n[tap.rx_out]',
         "c:19: tap event_log: is the name of the log of events and states; another name"),
    ],
)  # fmt: skip
def test_what_is_logged_is_held_to_what_the_device_can_have(
    was: str, is_now: str, said: str
) -> None:
    assert parse_card(LOGS).event["bad"].bits == 32
    assert was in LOGS
    assert said in problems(LOGS.replace(was, is_now, 1))


HOOKS = """\
schema = 1
[card]
name = "switch"
[clock.cpu]
hz = 50_000_000
registers = true
[event.bad]
value = "flow"
[cause.bad]
"""


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("[event.bad]\nvalue", "[counter.bad]\nunit",
         "c:1: no table tap.*: a card has a tap for each place where its recorder listens; one of C hooks alone has "
         "[event.NAME] or [states.NAME]"),
        ('name = "switch"', 'name = "switch"\nmap = 1\nmap_hash = 1',
         "c:4: card: map = 1 has four taps; a card of C hooks alone is of map 2"),
        ("[event.bad]", "[clock.rx]\nhz = 1_000\n[event.bad]",
         "c:4: 2 clocks; a card of C hooks alone has one, that of the processor's cycles"),
        ("[event.bad]", '[event.bad]\nwire = "bad"',
         "c:7: event bad: wire bad: a card without a [tap] has no device, so no wires; leave it out, and the program "
         "says when it happens"),
        ("[cause.bad]", '[cause.bad]\ncheck = "watchdog"\ncycles = 5',
         "c:9: cause bad: a card without a [tap] has nothing to check; the program calls ff_ring_cause"),
        ("[cause.bad]", '[bank.level]\nwire = "level"',
         "c:9: [bank]: a card without a [tap] has no device that could have it"),
        ("[cause.bad]", "[cause]\n" + "\n".join(f"c{n} = {{}}" for n in range(14)),
         "c:9: 14 causes; a card of C hooks alone has at most 13"),
        ("[event.bad]", '[tap.rx]\nkind = "words"\nclock = "cpu"\n[cause.x]\nwire = "x"\n[event.bad]',
         "c:12: event bad: wire is missing; only a card without a [tap], one of C hooks, has none"),
    ],
)  # fmt: skip
def test_a_card_of_c_hooks_alone_has_events_states_and_causes_and_nothing_of_a_device(
    old: str, new: str, line: str
) -> None:
    assert parse_card(HOOKS).tap == {}
    assert old in HOOKS
    assert line in problems(HOOKS.replace(old, new))


def test_text_that_is_no_toml_or_no_text_is_refused_with_its_line(tmp_path: Path) -> None:
    assert problems("schema = 1\n[card\n")[0].startswith("c:2: ")
    assert problems("a = " + "[" * 5000) == ["c: arrays or tables stand too deep in each other"]
    other = tmp_path / "latin.toml"
    other.write_bytes(b"schema = 1\n# \xe9\n")
    with pytest.raises(CardError, match=r"latin\.toml:2: byte 0xe9 is no UTF-8 text"):
        read_card(other)
    other.write_bytes(b"\xef\xbb\xbf" + MAC.encode())
    with pytest.raises(
        CardError, match=r"latin\.toml:1: begins with a byte order mark \(ef bb bf\); save it"
    ):
        read_card(other)
    with pytest.raises(InputError, match="could not be read: Is a directory"):
        read_card(tmp_path)


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("", "field is missing, the one that counts up; tap rx_in has own.number"),
        ('field = "own.seq"', "own.seq is no field of format own; tap rx_in has own.number"),
        ('field = "number"', "number is no field of format own; tap rx_in has own.number"),
    ],
)
def test_a_sequence_is_a_field_of_the_format_at_its_tap(field: str, said: str) -> None:
    own = (
        '[format.own]\nis = "fields"\n[format.own.field.number]\nat_bit = 0\nbits = 8\n[tap.rx_in]'
    )
    text = MAC.replace("[tap.rx_in]", own).replace('format = "eth"', 'format = "own"', 1)
    text = text.replace('check = "fcs"', f'check = "sequence"\n{field}')
    assert problems(text) == [f"c:34: cause bad_fcs: {said}"]
    assert parse_card(text.replace(f"\n{field}\ntap", '\nfield = "own.number"\ntap'))


def test_a_card_that_ships_is_meant_by_its_name_and_a_missing_file_lists_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "forth").mkdir()  # as `card build forth` leaves it
    assert read_card("forth").card.name == "forth"
    with pytest.raises(InputError) as refused:
        read_card("fort")
    assert str(refused.value) == (
        "fort: there is no such file; give a card file, or the name of a card that ships: ethernet-8, "
        "ethernet-axis-512, ethernet-axis-64, forth-regions, forth-x4, forth, interrupting, liteeth, pci-sci-node, "
        "pci-sci, switch-c"
    )
    with pytest.raises(InputError, match="there is no such file"):
        read_card(tmp_path / "forth.toml")
    (tmp_path / "liteeth").write_text(MAC)
    assert read_card("liteeth").card.name == "mac10g"


@given(st.text(max_size=300), st.integers(0, len(MAC)), st.integers(0, 40))
def test_no_text_raises_anything_but_a_card_error(text: str, at: int, length: int) -> None:
    for broken in (text, MAC[:at] + text + MAC[at + length :]):
        try:
            parse_card(broken)
        except CardError as error:
            assert str(error)


def test_keys_have_the_lines_where_a_reader_sees_them() -> None:
    text = (
        'a = 1\n"b c" = 2 # x = 1\n[t.u]\nlist = [\n  1, # y = 3\n  "z = 4",\n]\n'
        'text = """\nq = 5\n"""\n[[t.v]]\nk = { m = 1, n = { o = 2 } }\n[[t.v]]\nk.l = 1\n[t.v.w]\nr = 1\n'
    )
    assert key_lines(text) == {
        ("a",): 1,
        ("b c",): 2,
        ("t",): 3,
        ("t", "u"): 3,
        ("t", "u", "list"): 4,
        ("t", "u", "text"): 8,
        ("t", "v"): 11,
        ("t", "v", 0): 11,
        ("t", "v", 0, "k"): 12,
        ("t", "v", 1): 13,
        ("t", "v", 1, "k"): 14,
        ("t", "v", 1, "k", "l"): 14,
        ("t", "v", 1, "w"): 15,
        ("t", "v", 1, "w", "r"): 16,
    }
