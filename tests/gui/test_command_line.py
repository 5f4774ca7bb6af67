"""The command line as a whole: help that costs nothing, exit codes, errors in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from freezeframe.gui.cli.main import main
from freezeframe.gui.cli.verbs import VERBS, help_text
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import serving
from tests.gui.cli import process_environment, refusal, run_inside, run_process
from tests.processes import run_program

ASKED = (
    "demo reproduce targets emulate status watch serve arm freeze pull guard night counters selftest qualify rx-dma "
    "traffic inject loopback console sim-board trigger explain check diff learn open analyze plot capture decode "
    "import decoders expect export report card iwarp verify bundle calibrate what-if "
    "recording recover reg"
)
HEAVY = ("numpy", "pandas", "numba", "pyarrow", "rich", "typer", "simpy", "serial", "email")
QT = ("PyQt6", "textual")


def modules_after(*arguments: str, code: int = 0) -> set[str]:
    """Return the names of all top-level modules that a run of the command line has imported, which
    ends with this code."""
    program = (
        "import sys\n"
        "from freezeframe.gui.cli.main import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "finally:\n"
        "    print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)\n"
    )
    done = run_program([sys.executable, "-c", program], env=process_environment())
    assert done.returncode == code, done.stderr
    return set(done.stderr.split())


def test_help_imports_nothing_heavy_not_even_typer() -> None:
    assert modules_after("--help").isdisjoint(HEAVY + QT)


@pytest.mark.parametrize("verb", ["status", "explain", "pull", "decode"])
def test_the_help_of_a_verb_imports_no_numbers_no_tables_and_no_window_system(verb: str) -> None:
    heavy = set(HEAVY) - {"typer", "email"}
    assert modules_after(verb, "--help").isdisjoint(heavy | set(QT))


@pytest.mark.parametrize("verb", ["decode", "export --to vcd -o x.vcd", "import -o x.ff"])
def test_a_capture_that_is_not_there_is_refused_before_anything_large_is_loaded(verb: str) -> None:
    loaded = modules_after(*verb.split(), "no-such-file.sr", code=2)
    assert loaded.isdisjoint({"numpy", "pandas", "numba", "pyarrow", *QT})


def test_help_takes_at_most_six_times_what_python_takes_to_do_nothing() -> None:
    """Of processor time, a ratio in one run, the best of five of each."""

    def best(*command: str) -> float:
        times = []
        for _ in range(5):
            before = os.times()
            subprocess.run(command, check=True, capture_output=True, env=process_environment())
            after = os.times()
            times.append(sum(after[2:4]) - sum(before[2:4]))
        return min(times)

    nothing = max(
        best(sys.executable, "-c", "pass"), 0.01
    )  # the clock ticks a hundred times a second
    assert best(sys.executable, "-m", "freezeframe", "--help") < 6 * nothing


def test_help_names_every_verb_that_was_asked_for_with_its_own_line() -> None:
    done = run_process("--help")
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[0]: line for line in done.out.splitlines() if line.startswith("  ")}
    for verb in ASKED.split():
        assert len(lines[verb].split()) > 3
    assert [verb.name for verb in VERBS if verb.name not in ASKED.split()] == []


@pytest.mark.parametrize("verb", ASKED.split())
def test_every_verb_explains_itself_with_an_example(verb: str) -> None:
    done = run_inside(verb, "--help")
    assert done.code == 0
    assert f"  freezeframe {verb}" in done.out
    assert "Example" in done.out


def test_no_verb_at_all_prints_the_help_and_is_bad_input() -> None:
    done = run_process()
    assert (done.code, done.out) == (2, help_text() + "\n")


def test_the_version_is_that_of_the_package() -> None:
    done = run_process("--version")
    assert (done.code, done.err) == (0, "")
    assert done.out.split()[0] == "freezeframe"
    assert done.out.split()[1][0].isdigit()


def test_a_mistyped_verb_is_bad_input_and_the_nearest_is_offered() -> None:
    done = run_process("explian", "x.ff")
    assert (done.code, done.out) == (2, "")
    assert done.err == "freezeframe: 'explian' is not a verb; did you mean explain?\n"


def test_a_missing_argument_is_bad_input() -> None:
    assert "-o" in refusal("pull", "etherbone://192.0.2.1")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("status", "nonsense"), 2, "etherbone:"),
        (("status", "gopher://host"), 2, "no target of that kind"),
        (("status", "etherbone://127.0.0.1:1"), 3, "127.0.0.1"),
        (("status", "etherbone://no-such-host.invalid"), 3, "no-such-host.invalid"),
        (("status", "uart:/dev/no-such-line"), 3, "/dev/no-such-line"),
        (("status", "file:/no/such.ff"), 2, "/no/such.ff"),
        (("explain", "/no/such.ff"), 2, "/no/such.ff"),
        (("report", "/no/such.ff"), 2, "/no/such.ff"),
        (("decode", "/no/such.sr", "-d", "mdio"), 2, "/no/such.sr"),
        (("decode", __file__, "-d", "no-such-decoder"), 2, "no-such-decoder"),
        (("decoders", "mdoi"), 2, "did you mean mdio?"),
        (("emulate", "--fault", "no-such-fault"), 2, "word-omitted"),
        (("emulate", "--profile", "no-such-profile"), 2, "forth"),
        (("emulate", "--listen", "nowhere"), 2, "HOST:PORT"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_each_class_of_error_is_one_line_with_its_exit_code(
    arguments: tuple[str, ...], code: int, says: str
) -> None:
    done = run_inside(*arguments)
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert done.err.startswith("freezeframe: ")
    assert done.err.count("\n") == 1


def test_a_file_is_not_a_capture_folder(tmp_path: Path) -> None:
    file = tmp_path / "notes.ff"
    file.write_text("hello")
    assert "is not a capture folder" in refusal("explain", str(file))


def test_a_broken_pipe_ends_quietly() -> None:
    listing = subprocess.Popen(
        [sys.executable, "-m", "freezeframe", "decoders", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    )
    assert listing.stdout is not None
    assert listing.stderr is not None
    listing.stdout.close()  # as head does when it has seen enough
    errors = listing.stderr.read()
    assert listing.wait(30) == 141
    assert errors == b""
    listing.stderr.close()


def test_control_characters_in_an_error_do_not_reach_the_terminal() -> None:
    said = refusal("explain", "/no/\x1b[2Jsuch.ff")
    assert "\x1b" not in said
    assert r"\x1b[2Jsuch.ff" in said


def test_every_access_can_be_logged_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "accesses.log"
    with serving(FakeRecorder()) as url:
        assert run_inside("status", url, "--log-accesses", str(log)).code == 0
    lines = log.read_text().splitlines()
    assert "A rd id.magic addr=0x00000000 data=0x46525a46" in lines
    assert not [line for line in lines if " wr " in line]


def test_main_ends_with_the_exit_code_of_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["explain", "/no/such.ff"])
    assert end.value.code == 2
    assert "/no/such.ff" in capsys.readouterr().err
