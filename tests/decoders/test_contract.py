"""A decoder as data: what may be declared, what the user may write, what fits on what."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import (
    CAPTURE,
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
)
from freezeframe.decoders.registry import BrokenDecoder, Registry, load_decoders
from freezeframe.decoders.spec import match_channels, parse_spec, spec_value
from tests.processes import run_program


def nothing(piece: Any, options: OptionValues, state: Any, last: bool) -> Mapping[str, Any]:
    return {}


def declare(name: str, consumes: str = EDGES, **more: Any) -> Decoder:
    fields: dict[str, Any] = {
        "id": name,
        "name": name.upper(),
        "doc": "for a test",
        "consumes": consumes,
        "produces": (Output(name, lambda: None),),
        "decode": nothing,
        "channels": (Channel("clk", "clock"), Channel("d", "data")) if consumes == EDGES else (),
    }
    return Decoder(**(fields | more))


OPTIONS = (
    Option("mode", "auto", "how", choices=("auto", "fast")),
    Option("baud", 9600, "rate", minimum=1, maximum=10_000_000, unit="Bd"),
    Option("stop", 1.0, "stop bits", choices=(0.5, 1.0, 1.5, 2.0)),
    Option("invert", False, "inverted"),
    Option("title", "", "any text"),
)
BUS = declare("bus", options=OPTIONS)
PARTS = declare("parts", "bus")
FOLDER = declare(
    "folder", CAPTURE, produces=(Output("f.a", lambda: None), Output("f.b", lambda: None))
)
ON_B = declare("on-b", "f.b")
REGISTRY = Registry({d.id: d for d in (BUS, PARTS, FOLDER, ON_B)})


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("mode", "fast", "fast"),
        ("baud", "115200", 115200),
        ("baud", "0x100", 256),
        ("baud", "1_000", 1000),
        ("stop", "1.5", 1.5),
        ("invert", "yes", True),
        ("invert", "Off", False),
        ("title", "a b", "a b"),
        ("title", "", ""),
    ],
)
def test_an_option_is_parsed_by_the_type_of_its_default(
    option: str, text: str, value: object
) -> None:
    parsed = OptionValues(OPTIONS, {option: text})[option]
    assert (parsed, type(parsed)) == (value, type(value))


@pytest.mark.parametrize(
    ("option", "text", "says"),
    [
        ("mode", "slow", "option mode=slow: not a choice; allowed: auto, fast"),
        ("baud", "many", r"option baud=many: not a whole number; allowed: 1\.\.10000000"),
        ("baud", "0", r"option baud=0: too small; allowed: 1\.\.10000000 Bd"),
        ("baud", "10000001", "option baud=10000001: too large"),
        ("baud", "1.5", r"option baud=1\.5: not a whole number"),
        ("stop", "3", r"option stop=3\.0: not a choice; allowed: 0\.5, 1\.0, 1\.5, 2\.0"),
        ("stop", "nan", "option stop=nan: not a choice"),
        ("invert", "maybe", "option invert=maybe: not yes or no; allowed: yes, no"),
        ("speed", "1", "unknown option speed; there is: mode, baud, stop, invert, title"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_with_what_is(
    option: str, text: str, says: str
) -> None:
    with pytest.raises(InputError, match=f"decoder bus: {says}"):
        BUS.option_values({option: text})


def test_options_that_are_not_given_have_their_defaults_and_types() -> None:
    values = BUS.option_values({"baud": 300})
    assert dict(values) == {
        "mode": "auto",
        "baud": 300,
        "stop": 1.0,
        "invert": False,
        "title": "",
    }
    assert values.text("mode") == "auto"
    assert values.integer("baud") == 300
    assert values.number("stop") == 1.0
    assert values.flag("invert") is False
    for wrong in (values.integer, values.number, values.flag):
        with pytest.raises(TypeError, match="option mode is str"):
            wrong("mode")
    with pytest.raises(TypeError, match="option invert is bool, not int"):
        values.integer("invert")


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Option("a", 5, "", maximum=4), "default 5 too large"),
        (lambda: Option("a", "x", "", choices=("y",)), "default 'x' not a choice"),
        (lambda: Option("a", "x", "", choices=("x", 1)), "are not all str"),
        (lambda: Option("A b", 1, ""), "option id 'A b': small letters"),
        (lambda: Channel("", ""), "channel id ''"),
        (lambda: Output("edges", lambda: None), "not edges, capture or packets"),
        (lambda: declare("x", produces=()), "decoder x: produces no table"),
        (lambda: declare("x", channels=()), "consumes edges but declares no channel"),
        (lambda: declare("x", CAPTURE, channels=(Channel("a", ""),)), "has channels but consumes"),
        (
            lambda: declare("x", options=(Option("clk", 1, ""),)),
            "decoder x: channel or option declared twice: clk",
        ),
        (
            lambda: declare("x", produces=(Output("a", lambda: None),) * 2),
            "decoder x: output declared twice: a",
        ),
        (lambda: declare("x", "y", sigrok="srd.spi"), "decoder x: srd.spi but consumes 'y'"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(make: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        make()


def test_a_spec_is_a_name_with_options_and_probes() -> None:
    (step,) = parse_spec("bus:baud=300,d=D1,mode=fast", REGISTRY).steps
    assert step.decoder is BUS
    assert (step.options["baud"], step.options["mode"]) == (300, "fast")
    assert step.probes == {"d": "D1"}


def test_plus_stacks_a_decoder_on_the_table_of_another() -> None:
    stack = parse_spec("bus:clk=C+parts", REGISTRY)
    assert [step.decoder.id for step in stack.steps] == ["bus", "parts"]
    assert (stack.name, stack.consumes) == ("bus+parts", EDGES)
    assert parse_spec("folder+on-b", REGISTRY).consumes == CAPTURE


def test_a_backslash_lets_a_probe_have_any_name() -> None:
    (step,) = parse_spec(r"bus:d=D\+,clk=a\,b\:c\=d\\", REGISTRY).steps
    assert step.probes == {"d": "D+", "clk": "a,b:c=d\\"}


@pytest.mark.parametrize(
    ("spec", "probe"),
    [
        ("bus:d=D+", "D+"),
        ("bus:d=D+,baud=300", "D+"),
        ("bus:d=D++parts", "D+"),
        ("bus:d=top:d", "top:d"),
        ("bus:d=a=b", "a=b"),
        ("bus:d=C+D", "C+D"),
    ],
)
def test_most_names_need_no_backslash(spec: str, probe: str) -> None:
    assert parse_spec(spec, REGISTRY).steps[0].probes == {"d": probe}


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("", "a decoder's name is missing"),
        ("bus+", "a decoder's name is missing"),
        ("bsu", r"there is no decoder 'bsu'; did you mean bus\?"),
        ("bus:", "'' is not option=value or channel=PROBE"),
        ("bus:baud", "'baud' is not option=value"),
        ("bus:=1", "'=1' is not option=value"),
        ("bus:baud=1=2", "option baud=1=2: not a whole number"),
        ("bus:d=a,b", r"'b' is not option=value .*; a comma inside a name is written \\,"),
        ("bus:d=D+x", r"there is no decoder 'x'.*; if \+x is the end of a name, write \\\+x"),
        ("bus:baud=1,baud=2", "baud is given twice"),
        ("bus:x=1", "bus has no option or channel x; options: baud, .*; channels: clk, d"),
        ("parts:x=1", "parts has no option or channel x; options: none; channels: none"),
        ("bus:baud=x", "decoder bus: option baud=x: not a whole number"),
        ("parts+bus", "bus takes edges, but parts makes parts"),
        ("folder+parts", "parts takes bus, but folder makes f.a, f.b"),
    ],
)
def test_a_spec_that_cannot_be_meant_is_refused(spec: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_spec(spec, REGISTRY)


def test_a_channel_takes_the_probe_of_its_name_whatever_the_letters() -> None:
    assert match_channels(BUS, {}, ["X", "D", "CLK"]) == ("CLK", "D")
    assert match_channels(BUS, {"d": "X"}, ["X", "D", "clk"]) == ("clk", "X")


def test_an_exact_probe_name_goes_before_one_with_other_letters() -> None:
    assert match_channels(BUS, {}, ["CLK", "clk", "d"]) == ("clk", "d")


def test_an_optional_channel_may_be_absent() -> None:
    bus = declare("x", channels=(Channel("a", ""), Channel("b", "", optional=True)))
    assert match_channels(bus, {}, ["a"]) == ("a", None)


@pytest.mark.parametrize(
    ("given", "probes", "found"),
    [
        ({"rx": "tx"}, ["rx", "tx"], ("tx", None)),
        ({"rx": "TX"}, ["tx"], ("tx", None)),
        ({"rx": "TX"}, ["tx", "TX"], ("TX", "tx")),
        ({"rx": "b"}, ["b", "tx"], ("b", "tx")),
    ],
)
def test_an_optional_channel_takes_no_probe_that_another_channel_was_given(
    given: dict[str, str], probes: list[str], found: tuple[str | None, ...]
) -> None:
    line = Channel("rx", "", optional=True), Channel("tx", "", optional=True)
    assert match_channels(declare("x", channels=line), given, probes) == found


def test_a_probe_given_to_each_of_two_channels_stands_for_both() -> None:
    line = Channel("rx", ""), Channel("tx", "")
    assert match_channels(declare("x", channels=line), {"rx": "a", "tx": "A"}, ["a"]) == ("a", "a")


def test_an_optional_channel_that_is_given_nothing_has_no_probe() -> None:
    bus = declare("x", channels=(Channel("a", ""), Channel("b", "", optional=True)))
    assert match_channels(bus, {"b": ""}, ["a", "b"]) == ("a", None)


@pytest.mark.parametrize(
    ("probe", "is_it"),
    [
        *((name, True) for name in ("CS#", "nCS", "/CS", "BUS_CS", "CS_N", "Sel", "bus cs")),
        *((name, False) for name in ("CS1", "MYCS", "CS+", "C", "n")),
    ],
)
def test_a_channel_is_known_by_the_names_that_people_give_it(probe: str, is_it: bool) -> None:
    channels = Channel("cs", "", optional=True, aliases=("ncs", "csn", "sel")), Channel("d", "")
    chosen = match_channels(declare("bus", channels=channels), {}, [probe, "d"])
    assert chosen == (probe if is_it else None, "d")


def test_numbers_of_a_name_stay_apart() -> None:
    lines = tuple(Channel(f"d{n}", "", optional=True) for n in (1, 10))
    bus = declare("x", channels=lines)
    assert match_channels(bus, {}, ["D[1]", "D[10]"]) == ("D[1]", "D[10]")
    assert match_channels(bus, {}, ["D1[0]", "D_1"]) == ("D_1", None)


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("bus:baudrate=300", {"baud": 300}),
        ("bus:cpol=1", {"phase": 2}),
        ("bus:cpha=1,cpol=1", {"phase": 3}),
    ],
)
def test_an_option_has_the_names_that_others_give_it(spec: str, options: dict[str, int]) -> None:
    bus = declare(
        "bus",
        options=(
            Option("baud", 9600, "", aliases=("baudrate",)),
            Option("phase", 0, "", choices=(0, 1, 2, 3), bits=("cpol", "cpha")),
        ),
    )
    (step,) = parse_spec(spec, Registry({"bus": bus})).steps
    assert options.items() <= dict(step.options).items()


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("baud=1,baudrate=2", "option baud is given twice, as baud and baudrate"),
        ("phase=1,cpol=1", "option phase is given twice, as phase and cpol"),
        ("cpol=2", "option cpol=2: a bit of phase; 0 or 1"),
    ],
)
def test_an_option_under_two_names_is_refused(setting: str, says: str) -> None:
    options = (
        Option("baud", 9600, "", aliases=("baudrate",)),
        Option("phase", 0, "", choices=(0, 1, 2, 3), bits=("cpol", "cpha")),
    )
    with pytest.raises(InputError, match=says):
        parse_spec(f"bus:{setting}", Registry({"bus": declare("bus", options=options)}))


@given(st.text("ab1+,:=\\# D-", min_size=1), st.sampled_from(["", "+parts", ",baud=300"]))
def test_any_name_that_is_written_into_a_spec_is_read_again(name: str, after: str) -> None:
    stack = parse_spec(f"bus:d={spec_value(name)}{after}", REGISTRY)
    assert stack.steps[0].probes == {"d": name}
    assert stack.name == ("bus+parts" if after == "+parts" else "bus")


@pytest.mark.parametrize(
    ("given", "probes", "says"),
    [
        ({}, ["clk"], r"channel d \(data\) has no probe; say d=PROBE; probes of the capture: clk"),
        ({"d": "Y"}, ["clk", "d"], "channel d: there is no probe 'Y'; probes of the capture"),
        ({"d": "Clk"}, ["clk", "d"], "channels clk and d both stand on probe clk"),
        ({}, ["CLK", "Clk", "d"], "CLK and Clk could both be meant; say clk=CLK or clk=Clk"),
    ],
)
def test_channels_that_cannot_be_matched_are_named(
    given: dict[str, str], probes: list[str], says: str
) -> None:
    with pytest.raises(InputError, match=f"decoder bus: .*{says}"):
        match_channels(BUS, given, probes)


def test_of_a_hundred_thousand_probes_a_message_names_some() -> None:
    probes = ["n" * 5_000_000, *map(str, range(100_000))]
    with pytest.raises(
        InputError, match="there is no probe 'Y'; probes of the capture: n"
    ) as caught:
        match_channels(BUS, {"d": "Y", "clk": "1"}, probes)
    assert str(caught.value).endswith("61, 62 and 99,937 more")
    assert len(str(caught.value)) < 1000


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "ff_test_plugins.py").write_text(
        textwrap.dedent(
            """
            from tests.decoders.test_contract import declare

            GOOD = declare("good")
            NOT_A_DECODER = 5
            """
        )
    )
    (tmp_path / "ff_test_broken.py").write_text("import no_such_module_at_all\n")
    (tmp_path / "ff_test_exits.py").write_text("raise SystemExit('no licence')\n")
    return tmp_path


def test_a_plugin_that_fails_is_listed_with_its_error_and_the_others_load(plugins: Path) -> None:
    points = [
        EntryPoint(name, value, "freezeframe.decoders")
        for name, value in (
            ("broken", "ff_test_broken:X"),
            ("exits", "ff_test_exits:X"),
            ("good", "ff_test_plugins:GOOD"),
            ("missing", "ff_test_plugins:NO_SUCH"),
            ("number", "ff_test_plugins:NOT_A_DECODER"),
            ("renamed", "ff_test_plugins:GOOD"),
        )
    ]
    registry = load_decoders(points)
    assert list(registry.decoders) == ["good"]
    errors = {broken.name: broken.error for broken in registry.broken}
    assert errors == {
        "broken": "ModuleNotFoundError: No module named 'no_such_module_at_all'",
        "exits": "SystemExit: no licence",
        "missing": "AttributeError: module 'ff_test_plugins' has no attribute 'NO_SUCH'",
        "number": "ff_test_plugins:NOT_A_DECODER is a int, not a Decoder",
        "renamed": "the entry point is named renamed but the decoder says it is good",
    }


def test_asking_for_a_decoder_that_did_not_load_says_why() -> None:
    registry = Registry({}, (BrokenDecoder("x", "pkg:X of pkg 1.0", "ImportError: no y"),))
    with pytest.raises(
        InputError, match=r"decoder x \(pkg:X of pkg 1\.0\) does not load: ImportError: no y"
    ):
        registry.find("x")


def test_an_entry_point_that_fails_to_import_is_one_line_when_it_is_asked_for(
    plugins: Path,
) -> None:
    points = [
        EntryPoint("broken", "ff_test_broken:X", "freezeframe.decoders"),
        EntryPoint("good", "ff_test_plugins:GOOD", "freezeframe.decoders"),
    ]
    registry = load_decoders(points)
    said = r"^decoder broken \(ff_test_broken:X\) does not load: ModuleNotFoundError: No module .*$"
    with pytest.raises(InputError, match=said):
        registry.find("broken")
    assert registry.find("good").id == "good"


def test_two_packages_cannot_offer_one_name(plugins: Path) -> None:
    (plugins / "ff_test_second.py").write_text("from ff_test_plugins import GOOD\n")
    points = [
        EntryPoint("good", f"{module}:GOOD", "freezeframe.decoders")
        for module in ("ff_test_second", "ff_test_plugins")
    ]
    registry = load_decoders(points)
    assert [broken.error for broken in registry.broken] == [
        "another package already offers a decoder of this name"
    ]


def modules_after(statements: str) -> tuple[str, set[str]]:
    """Return what a new process prints, and the modules that it has then."""
    lines = ("import sys", "from freezeframe.decoders.registry import load_decoders", statements)
    program = "\n".join([*lines, "print(*sys.modules)"])
    done = run_program([sys.executable, "-c", program], check=True)
    printed, _, modules = done.stdout.rstrip().rpartition("\n")
    return printed, set(modules.split())


def test_the_installed_decoders_load_without_anything_heavy() -> None:
    printed, modules = modules_after(
        "registry = load_decoders()\nprint(sorted(registry.decoders), registry.broken)"
    )
    assert "'mdio'" in printed
    assert "'trace'" in printed
    assert printed.endswith("()")
    assert not modules & {"numba", "pyarrow", "pandas", "numpy"}


def test_a_decoder_that_is_asked_for_by_name_loads_no_other() -> None:
    printed, modules = modules_after("print(load_decoders().find('uart').id)")
    assert printed == "uart"
    rooms = "freezeframe.decoders."
    loaded = {name.removeprefix(rooms) for name in modules if name.startswith(rooms)}
    assert {"serial.uart", "contract", "registry"} <= loaded
    assert not {name for name in loaded if name.startswith(("srd", "bus", "parts", "trace"))}
    assert not loaded & {f"serial.{name}" for name in ("i2c", "jtag", "mdio", "spi")}


def test_a_name_that_is_not_there_is_told_with_the_nearest_or_with_all_that_are() -> None:
    with pytest.raises(InputError, match=r"no decoder 'uarx'; did you mean uart\? \(`freezeframe"):
        load_decoders().find("uarx")
    with pytest.raises(
        InputError, match=r"no decoder 'zzz'; there is .*mdio.*srd-\.\.\. \(sigrok\)"
    ):
        load_decoders().find("zzz")


def test_what_was_asked_for_first_does_not_change_the_list() -> None:
    whole, later = load_decoders(), load_decoders()
    later.find("uart")
    later.get("srd-spi")
    assert list(later.decoders) == list(whole.decoders)
