"""Value change dumps: what is read, what each kind of damage is called, and pywellen as oracle."""

from __future__ import annotations

import random
import re
import tracemalloc
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files import vcd
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.edges import NO_RATE, Edges, join
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.vcd import read_edges, read_header

HEAD = """$date today $end
$timescale 10 ns $end
$scope module top $end
$var wire 1 ! clk $end
$var wire 4 " data [7:4] $end
$scope module sub $end
$var wire 1 ! clk $end
$var reg 8 # up [0:7] $end
$upscope $end
$upscope $end
$enddefinitions $end
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def read(path: Path, probes: list[str] | None = None, **more: object) -> Edges:
    return join(list(read_edges(path, probes, ReadSettings(**more))))  # type: ignore[arg-type] # test


def pairs(edges: Edges) -> list[tuple[int, int]]:
    return list(zip(edges.sample.tolist(), edges.value.tolist(), strict=True))


def test_a_tick_is_a_sample_and_a_vector_is_a_bus(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", HEAD + '#0\n0!\nb0011 "\n#5\n1!\n#7\nb1 "\n#20\n')
    edges = read(path, ["clk", "data[4]", "data[5]", "data[6]", "data[7]"])
    assert pairs(edges) == [(0, 0b00110), (5, 0b00111), (7, 0b00011)]
    assert (edges.samplerate_hz, edges.end_sample) == (100_000_000, 20)
    assert edges.bus("data").tolist() == [0b0011, 0b0011, 0b0001]


def test_channels_stand_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", HEAD + '#0\n1!\nb1000 "\n')
    assert pairs(read(path, ["data[7]", "data[6]", "clk", "data[4]"])) == [(0, 0b0101)]


def test_indices_may_fall_towards_the_higher_bits(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", HEAD + "#0\nb10000001 #\n")
    assert read_header(path).channels[5:] == tuple(f"up[{bit}]" for bit in range(7, -1, -1))
    assert pairs(read(path, ["up[0]", "up[1]", "up[7]"])) == [(0, 0b101)]


def test_one_signal_with_two_names_has_the_short_one(tmp_path: Path) -> None:
    header = read_header(write(tmp_path / "a.vcd", HEAD + "#0\n"))
    assert header.channels[:2] == ("clk", "data[4]")
    assert [bus.name for bus in header.buses] == ["data", "up"]


def test_two_signals_with_one_name_keep_their_scopes(tmp_path: Path) -> None:
    text = HEAD.replace("$var wire 1 ! clk $end\n$var reg", "$var wire 1 $ clk $end\n$var reg")
    header = read_header(write(tmp_path / "a.vcd", text))
    assert header.channels[0] == "top.clk"
    assert "top.sub.clk" in header.channels


def test_of_two_variables_with_one_whole_name_each_has_its_number(tmp_path: Path) -> None:
    text = HEAD.replace("$scope module sub", "$var wire 1 & clk $end $scope module sub")
    path = write(tmp_path / "a.vcd", text + "#0\n0!\n1&\n")
    assert {"top.clk#1", "top.clk#2"} < set(read_header(path).channels)
    assert pairs(read(path, ["top.clk#2", "top.clk#1"])) == [(0, 1)]


@pytest.mark.parametrize("name", ["clk", "top.clk", "top.sub.clk"])
def test_a_signal_is_found_by_all_of_its_whole_names(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.vcd", HEAD + "#0\n0!\n#5\n1!\n")
    assert pairs(read(path, [name])) == [(0, 0), (5, 1)]
    opened = SourceChoice(channels=[f"c={name}", "d=top.data"]).open(path, ReadSettings())
    assert opened.header.channels[:5] == ("c", "d0", "d1", "d2", "d3")
    assert opened.header.channel_of(name) == "c"
    assert pairs(join(list(opened.read(["c"])))) == [(0, 0), (5, 1)]


def test_a_bit_of_a_bus_is_found_by_its_whole_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", HEAD + '#0\nb0100 "\n')
    assert pairs(read(path, ["top.data[5]", "top.data[6]"])) == [(0, 0b10)]


def test_the_nine_values_of_vhdl_are_read_and_those_without_a_level_counted(tmp_path: Path) -> None:
    body = '#0\nU!\nbUX01 "\n#1\nH!\n#2\nL!\nbHLWZ "\n#3\n1!\nb-1LH "\n#4\nW!\n#5\n-!\n'
    path = write(tmp_path / "a.vcd", HEAD + body)
    notes: list[str] = []
    names = ["clk", "data[4]", "data[5]", "data[6]", "data[7]"]
    found = read(path, names, note=notes.append)
    assert pairs(found) == [(0, 0b00010), (1, 0b00011), (2, 0b10000), (3, 0b01011), (4, 0b01010)]
    assert notes == [f"{path}: 6 values with x or z are read as x=0, z=0"]
    ones = read(path, names, layout={"x": "1", "z": "1"})
    assert pairs(ones)[0] == (0, 0b11011)


def test_without_a_timescale_times_are_ticks(tmp_path: Path) -> None:
    text = HEAD.replace("$timescale 10 ns $end", "") + "#0\n0!\n#7\n1!\n"
    found = read(write(tmp_path / "a.vcd", text), ["clk"])
    assert (found.samplerate_hz, found.t_ps().tolist()) == (NO_RATE, [0, 7])


def test_bits_that_are_declared_one_by_one_are_channels(tmp_path: Path) -> None:
    text = "$timescale 1ns $end $var wire 1 ! d [1] $end $var wire 1 ? d [0] $end\n"
    path = write(tmp_path / "a.vcd", text + "$enddefinitions $end\n#0\n1!\n0?\n")
    assert read_header(path).channels == ("d[1]", "d[0]")
    assert pairs(read(path)) == [(0, 0b01)]


@pytest.mark.parametrize(
    ("x", "z", "want"), [("0", "0", 0b00_00), ("1", "0", 0b11_00), ("0", "1", 0b00_11)]
)
def test_x_and_z_are_filled_up_read_as_told_and_counted(
    tmp_path: Path, x: str, z: str, want: int
) -> None:
    # Table 18-5: a short value is filled up with x or z if that is leftmost, else with 0.
    text = "$timescale 1ns $end $var wire 2 a h $end $var wire 2 b l $end $enddefinitions $end\n"
    path = write(tmp_path / "a.vcd", text + "#0\nbx a\nbz b\n#3\nb01 a\nb1 b\n")
    notes: list[str] = []
    edges = read(path, ["l[0]", "l[1]", "h[0]", "h[1]"], layout={"x": x, "z": z}, note=notes.append)
    assert pairs(edges)[0] == (0, want)
    assert pairs(edges)[1] == (3, 0b01_01)
    assert notes == [f"{path}: 2 values with x or z are read as x={x}, z={z}"]


def test_a_dump_that_begins_late_holds_its_first_values_from_the_start(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", HEAD + "#1000\n1!\n#1004\n0!\n")
    assert pairs(read(path, ["clk"])) == [(0, 1), (1004, 0)]


def test_several_changes_at_one_time_are_one_edge_and_glitches_of_no_length_none(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a.vcd", HEAD + '#0\n0!\nb0 "\n#4\n1!\nb1 "\n#6\n0!\n1!\n#9\n')
    assert pairs(read(path, ["clk", "data[4]"])) == [(0, 0), (4, 3)]


def test_comments_dump_commands_reals_and_strings_are_passed_over(tmp_path: Path) -> None:
    text = HEAD.replace("$upscope", "$var real 64 r volt $end $upscope", 1)
    body = "$comment #99 1! $en d $endless x $end\n#0\n$dumpvars 0!\nr1.5e-3 r $end\n#2\n1!\n"
    path = write(tmp_path / "a.vcd", text + body)
    assert pairs(read(path, ["clk"])) == [(0, 0), (2, 1)]
    assert read_header(path).refused == {
        "top.sub.volt": "it is analog; give --threshold volt=HIGH/LOW in volts"
    }


@pytest.mark.parametrize(
    ("scale", "rate_hz", "samples"),
    [
        ("1 s", 1, [0, 3]),
        ("100us", 10_000, [0, 3]),
        ("3ns", 1_000_000_000, [0, 9]),
        ("5000ps", 200_000_000, [0, 3]),
        ("100 fs", 10**12, [0]),
        ("1000fs", 10**12, [0, 3]),
    ],
)
def test_the_sample_rate_is_that_of_the_ticks_or_what_they_are_multiples_of(
    tmp_path: Path, scale: str, rate_hz: int, samples: list[int]
) -> None:
    path = write(tmp_path / "a.vcd", HEAD.replace("10 ns", scale) + "#0\n0!\n#3\n1!\n")
    edges = read(path, ["clk"])
    assert (edges.samplerate_hz, edges.sample.tolist()) == (rate_hz, samples)
    # Within the first picosecond, only the last value is left.
    assert edges.value.tolist()[-1] == 1


@pytest.mark.parametrize("piece_B", [1, 2, 3, 7])
def test_the_edges_do_not_depend_on_where_the_pieces_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, piece_B: int
) -> None:
    path = write(tmp_path / "a.vcd", random_dump(seed=5, steps=60))
    whole = read(path)
    monkeypatch.setattr(vcd, "_PIECE_B", piece_B)
    cut = read(path)
    assert pairs(cut) == pairs(whole)
    assert cut.end_sample == whole.end_sample


@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_pywellen(tmp_path: Path, seed: int) -> None:
    pywellen = pytest.importorskip("pywellen")
    path = write(tmp_path / "a.vcd", random_dump(seed, steps=400))
    wave = pywellen.Waveform(str(path))
    header = read_header(path)
    edges = join(list(read_edges(path, header.channels)))
    for bus in header.buses:
        signal = wave["top." + bus.name]
        ours = dict(zip(edges.sample.tolist(), edges.bus(bus.name).tolist(), strict=True))
        for sample, value in ours.items():
            assert signal.signal.value_at(sample) == value, (bus.name, sample)
    one = edges.select(["clk"])
    for sample, value in zip(one.sample.tolist(), one.value.tolist(), strict=True):
        assert wave["top.clk"].signal.value_at(sample) == value


def random_dump(seed: int, steps: int) -> str:
    rng = random.Random(seed)
    lines = ["$timescale 1ns $end", "$scope module top $end", "$var wire 1 ! clk $end"]
    lines += ['$var wire 33 "! wide $end', "$var reg 7 ~~~ seven $end", "$upscope $end"]
    lines += ["$enddefinitions $end", "#0", "$dumpvars", "0!", 'b0 "!', "b0 ~~~", "$end"]
    time = 0
    for _ in range(steps):
        time += rng.choice([1, 1, 2, 1000])
        lines.append(f"#{time}")
        kind = rng.randrange(4)
        if kind != 1:
            lines.append(f"{rng.randrange(2)}!")
        if kind != 2:
            lines.append(f'b{rng.getrandbits(33):b} "!')
        if kind == 3:
            lines.append(f"b{rng.getrandbits(rng.randrange(1, 8)):b} ~~~")
    return "\n".join(lines) + "\n"


BAD = {
    "empty": ("", "the file is empty"),
    "no header": ("hello\n" * 9, r"no \$enddefinitions in its 54 B; no VCD file, or cut short"),
    "cut header": (HEAD[:90], r"no \$enddefinitions in its 90 B"),
    "timescale": (HEAD.replace("10 ns", "10 parsec"), r"timescale '10parsec'; a number with s..fs"),
    "time back": (
        HEAD + "#5\n0!\n#3\n1!\n",
        "byte 0x[0-9a-f]+: time 3 is earlier than the one before",
    ),
    "time huge": (HEAD + "#0\n0!\n#99999999999999999999999\n", "a time is larger than 2.62 ticks"),
    "time late": (HEAD + "#0\n0!\n#999999999999999999\n", "later than 9000000 s"),
    "filled up": (
        HEAD + "#0\n0!\n#5\n" + "\0" * 99,
        "byte 0xf6: a byte 00 in text; what stood there",
    ),
    "time text": (HEAD + "#12ab\n0!\n", "a time is larger than 2.62 ticks, or not a number"),
    "time none": (HEAD + "#\n0!\n", "or not a number"),
    "byte": (HEAD + "#0\n0!\nq!\n", "no value, time or keyword begins with byte 0x71"),
    "undeclared": (HEAD + "#0\n0!\n1%\n", "a value is for an identifier that is not declared"),
    "id long": (HEAD + "#0\n0" + "!" * 10_000, "an identifier is longer than 8 characters"),
    "too wide": (HEAD + '#0\nb00001 "\n', "a value has 5 bits, more than its variable"),
    "vector": (HEAD + '#0\nb01012 "\n', "byte 0x32 in a vector; 0, 1, x, z, u, w, l, h and - can"),
    "cut value": (HEAD + "#0\n0!\n#5\nb0101", "the file ends in the middle of a value"),
    "nothing": (HEAD + "#0\n#5\n", "there is no value of clk, data.4., data.5. in it"),
    "declared long": (HEAD.replace("!", "!" * 5000), "an identifier of 5000 characters; 1 to 8"),
    "width text": (HEAD.replace("wire 1 !", "wire one !"), r"\$var 'wire one ! clk' is not: type"),
    "width lies": (HEAD.replace('4 "', '5 "'), r"data\[7:4\] has not the 5 bits it says"),
    "two widths": (HEAD.replace("reg 8 #", "reg 8 !"), "identifier ! is a variable of 8 bits and"),
    "a bit that is another variable": (
        HEAD.replace("$scope module sub", "$var wire 1 & data [5] $end $scope module sub"),
        r"two variables are named data\[5\]",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_damage_is_one_clear_error(tmp_path: Path, what: str) -> None:
    text, message = BAD[what]
    path = write(tmp_path / "a.vcd", text)
    with pytest.raises(CaptureFormatError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_gigantic_variable_takes_no_memory_and_is_refused_by_name(tmp_path: Path) -> None:
    head = HEAD.replace("$upscope", "$var wire 4000000000 % huge $end $upscope", 1)
    path = write(tmp_path / "a.vcd", head + "#0\n0!\nb" + "01" * 2_000_000 + " %\n#5\n1!\n")
    tracemalloc.start()
    assert pairs(read(path, ["clk"])) == [(0, 0), (5, 1)]
    _, peak_B = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_B < 40 << 20
    with pytest.raises(InputError, match=r"top\.sub\.huge cannot be read: it has 4000000000 bits"):
        read(path, ["top.sub.huge"])


def test_a_header_without_end_is_refused_before_memory_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", "$var wire 1 ! a $end\n" * 500_000)
    with pytest.raises(
        CaptureFormatError, match=re.escape("no $enddefinitions in the first 83886")
    ):
        read_header(path)


def test_more_channels_than_names_fit_are_refused(tmp_path: Path) -> None:
    variables = "".join(f"$var wire 64 {n} v{n} $end\n" for n in range(4097))
    path = write(tmp_path / "a.vcd", "$timescale 1ns $end\n" + variables + "$enddefinitions $end\n")
    with pytest.raises(CaptureFormatError, match="4097 variables of 262208 bits; up to 262144"):
        read_header(path)


def test_channels_and_samples_are_limited(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vcd", random_dump(1, 5).replace("reg 7 ~~~", "reg 31 ~~~"))
    with pytest.raises(InputError, match="65 channels; at most 64 at once"):
        read(path)
    with pytest.raises(InputError, match="more than the 3 allowed"):
        read(path, ["clk"], max_samples=3)
    with pytest.raises(InputError, match="no channel nope; there is clk, wide"):
        read(path, ["nope"])
    with pytest.raises(InputError, match="clk is asked for twice"):
        read(path, ["clk", "clk"])
    with pytest.raises(InputError, match=r"--format vcd: x=2; it is read as 0 or as 1"):
        read(path, ["clk"], layout={"x": "2"})
    with pytest.raises(InputError, match=r"--format vcd: there is no setting y; x, z"):
        read(path, ["clk"], layout={"y": "2"})
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_header(tmp_path / "none.vcd")
