"""GHW files of ghdl: bytes that ghdl 2.0 wrote, the same made again where ghdl is installed, damage."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.edges import join
from freezeframe.capture.files.open import find_format, read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from tests.capture.files.test_sample_folder import steps

SOURCE = """\
library ieee; use ieee.std_logic_1164.all;
entity tb is end;
architecture a of tb is
  signal clk : std_logic := '0';
  signal data : std_logic_vector(3 downto 0) := "0000";
  signal b : bit := '0';
begin
  process begin
    for i in 0 to 3 loop
      wait for 5 ns; clk <= not clk; data(0) <= not data(0); b <= not b;
    end loop;
    wait for 5 ns; data <= "ZX10"; wait for 5 ns; clk<='H'; wait for 1 fs; clk <= 'L'; wait for 7 ns;
    wait;
  end process;
end;
"""

# What `ghdl -r tb --wave=tb.ghw` (ghdl 2.0.0) writes for SOURCE.
WRITTEN = bytes.fromhex(
    """
    4748444c776176650a1000010104010053545200000000001600000071000000272d2701302701312701482701
    4c27015527015727015827015a27005030006201697400636c6b006461746100696e7465676572006e61747572
    616c007374616e6461726402645f6c6f676963095f313136340a766563746f7204756c6f67696300746200454f
    5300545950000000000007000000171509060802030907050401221201170008190f2210031900ffffffff071f
    14020104230005990300160c02020300574b540000000000020703010048494500000000000100000003000000
    0600000007110f07130f0616100d0201100e0602030405100b07060d0a0f00454f4800534e5000000000000000
    00000000000002020202020045534e0043594300000000000000000000c096b10201030403010100c096b10201
    020402010000c096b10201030403010100c096b10201020402010000c096b10202040101010300c096b1020107
    0001010600c09fab03007f4543590044495200010401000800000053545200100000005459500089000000574b
    5400c400000048494500d1000000454f480000010000534e500004010000435943001e01000044495200770100
    00454f4400544149000104010077010000
    """
)

# In picoseconds; bit 0 clk, bits 1 to 4 data[0] to data[3], bit 5 b. Z and X are read as 0, the H
# of one femtosecond at 30 ns is over within the picosecond.
EDGES = [(0, 0), (5000, 35), (10000, 0), (15000, 35), (20000, 0), (25000, 0b00100)]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "tb.ghw"
    path.write_bytes(WRITTEN)
    return path


def test_the_signals_of_a_simulation_are_read(written: Path) -> None:
    assert find_format(written) == "ghw"
    header = read_header(written)
    assert header.channels == ("clk", "data[0]", "data[1]", "data[2]", "data[3]", "b")
    assert [bus.name for bus in header.buses] == ["data"]
    found = join(list(read_edges(written)))
    assert steps(found) == EDGES
    assert (found.samplerate_hz, found.end_sample) == (10**12, 30001)
    assert steps(join(list(read_edges(written, ["b"])))) == [
        *((0, 0), (5000, 1), (10000, 0), (15000, 1), (20000, 0))
    ]


def test_x_and_z_are_read_as_the_settings_say(written: Path) -> None:
    notes: list[str] = []
    settings = ReadSettings(layout={"x": "1", "z": "1"}, note=notes.append)
    found = join(list(read_edges(written, None, settings)))
    assert steps(found)[-1] == (25000, 0b11100)
    assert notes == [f"{written}: 1 values with x or z are read as x=1, z=1"]


@pytest.mark.skipif(shutil.which("ghdl") is None, reason="ghdl is not installed")
def test_what_ghdl_writes_here_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "tb.vhd").write_text(SOURCE)
    made = {"ghw": "--wave=", "vcd": "--vcd=", "fst": "--fst="}
    runs = [["-r", "tb", f"{option}made.{kind}"] for kind, option in made.items()]
    for command in (["-a", "tb.vhd"], *runs):
        subprocess.run(["ghdl", *command], cwd=tmp_path, check=True, timeout=60)
    for kind in made:  # an FST is packed as a whole
        assert steps(join(list(read_edges(tmp_path / f"made.{kind}")))) == EDGES, kind


def test_damage_is_an_error_or_another_value_and_never_the_end_of_the_program(
    tmp_path: Path,
) -> None:
    path = tmp_path / "f.ghw"
    chance = random.Random(5)
    cases = [WRITTEN[:size] for size in range(16, len(WRITTEN), 60)]
    for _ in range(10):
        data = bytearray(WRITTEN)
        data[chance.randrange(16, len(data))] = chance.randrange(256)
        cases.append(bytes(data))
    refused = 0
    for case in cases:
        path.write_bytes(case)
        try:
            list(read_edges(path))
        except CaptureFormatError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused >= len(cases) - 10


def test_changes_that_the_reader_would_skip_are_said_and_not_left_out(tmp_path: Path) -> None:
    path = tmp_path / "f.ghw"
    snapshot = b"SNP\0" + bytes(4)  # and its time in femtoseconds: here 1 us, behind all cycles
    path.write_bytes(WRITTEN.replace(snapshot + bytes(8), snapshot + (10**9).to_bytes(8, "little")))
    says = "time decreased from 1000000000 to 0. Skipping!; the file is damaged, write it again"
    with pytest.raises(CaptureFormatError) as raised:
        list(read_edges(path))
    assert str(raised.value) == f"{path}: {says}"


def test_a_file_too_large_to_be_held_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.ghw"
    with path.open("wb") as file:
        file.write(WRITTEN)
        file.truncate(1 << 40)
    with pytest.raises(InputError, match=r"files of up to 33554432 B are read.*--fst=FILE"):
        read_header(path)
