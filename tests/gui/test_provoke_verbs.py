"""selftest, rx-dma, traffic, inject, loopback on the emulated pair."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.emulator.target import EmulatorTarget
from tests.capture.serving import serving
from tests.gui.cli import refusal, run_inside


def test_selftest_prints_each_stage_with_what_holds_and_makes_no_folder_where_nothing_failed(
    tmp_path: Path,
) -> None:
    done = run_inside("selftest", "emu:?seed=3&load=light", "-o", str(tmp_path / "a" / "b"))
    assert (done.code, done.err) == (0, "")
    assert not (tmp_path / "a" / "b").exists()
    heads = [line.split()[:3] for line in done.out.splitlines() if line[0] != " "]
    assert heads == [
        ["1", "interface", "passed"],
        ["2", "host-dma", "passed"],
        ["3", "loopback", "passed"],
        ["4", "pair", "passed"],
        ["5", "switch", "not"],
    ]
    assert "    A: 2048 words of the inject buffer hold a pattern and its complement" in done.out


def test_selftest_ends_with_1_and_says_what_was_seen_for_a_machine() -> None:
    done = run_inside(
        "selftest", "emu:?seed=1&fault=word-omitted&load=light", "--discard", "--json"
    )
    assert done.code == 1
    document = json.loads(done.out)
    assert document["passed"] is False
    stages = {stage["stage"]: stage for stage in document["stages"]}
    failed = [stage for stage in document["stages"] if stage["outcome"] == "failed"]
    assert [stage["seen"][:12] for stage in failed] == ["word-omitted"]
    assert stages["pair"]["outcome"] in ("failed", "not run")


def test_selftest_keeps_the_recording_that_a_stage_failed_by(tmp_path: Path) -> None:
    target = "emu:?seed=1&fault=word-omitted&load=light"
    folder = tmp_path / "failed"
    done = run_inside("selftest", target, "--discard", "-o", str(folder))
    assert (done.code, done.err) == (1, "")
    (capture,) = folder.iterdir()
    assert f"    kept: freezeframe explain {capture}\n" in done.out
    assert "word-omitted" in run_inside("explain", str(capture)).out
    without = run_inside("selftest", target, "--discard")
    assert "its recording is gone with this emulated card, which ends here: say -o DIR" in (
        " ".join(without.out.split())
    )


def test_selftest_without_a_folder_says_where_the_recording_stands_and_what_keeps_it(
    tmp_path: Path,
) -> None:
    card = EmulatorTarget(fault="word-omitted", seed=1, load="light", access_ps=5_000_000)
    with serving(card) as url:
        failed = run_inside("selftest", url, "--discard")
        said = " ".join(failed.out.split())
        assert failed.code == 1
        assert "its recording stands in A generation " in said
        keep = f"freezeframe pull {url} -o NAME.ff keeps it"
        assert keep in said
        assert run_inside("selftest", url).code == 3
        kept = tmp_path / "NAME.ff"
        assert run_inside("pull", url, "-o", str(kept)).code == 0
        assert "word-omitted" in run_inside("explain", str(kept)).out
        assert run_inside("selftest", url).code == 1


def test_selftest_refuses_a_place_where_no_folder_can_be_made() -> None:
    said = refusal("selftest", "emu:?seed=3&load=light", "-o", "/dev/null/x")
    assert said == "freezeframe: -o /dev/null/x: Not a directory; name a folder for recordings\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("rx-dma", "stop", "emu:", "--device", "B"), "B: receive DMA stopped"),
        (("rx-dma", "start", "emu:"), "A: receive DMA running"),
        (("traffic", "off", "emu:"), "A: no pattern traffic"),
        (
            ("traffic", "on", "emu:", "--length", "9", "--flow", "2"),
            "A: pattern packets of 9 words on flow 2, seed 0x0",
        ),
        (("inject", "emu:", "--length", "8"), "A: 11 words sent, 1 packet injected so far"),
        (
            ("inject", "emu:", "--length", "8", "--damage", "length"),
            "A: 10 words sent, 1 packet injected so far",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_provocation_says_what_the_card_does_now(arguments: tuple[str, ...], line: str) -> None:
    done = run_inside(*arguments)
    assert (done.code, done.out, done.err) == (0, line + "\n", "")


def test_a_loop_back_arms_cards_anew_that_record() -> None:
    done = run_inside("loopback", "on", "emu:")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first == "A: loop-back on, armed anew"
    assert second.startswith("it was recording; that it froze in the ")


def test_words_are_sent_from_a_file_as_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "packet.txt"
    file.write_text("# header\n0x30c5000700020301 # RDMA_WRITE\n1000\n\n1\n2\nb9ddf6\n")
    done = run_inside("inject", "emu:", "--words", str(file))
    assert (done.code, done.out) == (0, "A: 5 words sent, 1 packet injected so far\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\nnonsense\n", "packet.txt, line 2: 'nonsense' is not a 64-bit word in hex"),
        ("12345678123456789\n", "line 1: '12345678123456789' is not a 64-bit word in hex"),
        ("# nothing\n", "packet.txt: holds no word"),
    ],
    ids=["text", "too wide", "empty"],
)
def test_a_file_without_words_is_bad_input(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "packet.txt"
    file.write_text(text)
    assert message in refusal("inject", "emu:", "--words", str(file))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rx-dma", "halt", "emu:"), "'halt' is not one of"),
        (("rx-dma", "stop", "emu:", "--device", "Q"), "no device 'Q'; it has A, B"),
        (("traffic", "on", "emu:", "--flow", "99"), "flow 99: device A has flows 0..7"),
        (("inject", "emu:", "--dest", "here"), "--dest 'here': not a 64-bit address"),
        (("inject", "emu:", "--length", "0", "--damage", "length"), "cannot be a word short"),
    ],
    ids=["action", "device", "flow", "dest", "damage"],
)
def test_a_wrong_argument_is_one_line_and_exit_code_2(
    arguments: tuple[str, ...], message: str
) -> None:
    assert message in refusal(*arguments)


def test_a_trigger_is_printed_as_it_stands_in_the_card() -> None:
    """docs/trigger.md: kinds and masked values of both terms, and what fires."""
    done = run_inside(
        *("trigger", "emu:", "--on", "rx_enq", "--term", "flow=3,type=RDMA_WRITE"),
        *("--then", "kind=TAIL", "--limit", "600", "--arm"),
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:-1] == [
        "A: trigger on rx_enq",
        "term  kinds  value               mask",
        "0     HEAD   0x0000000000000301  0x0000000000007f0f",
        "1     TAIL   0x0000000000000000  0x0000000000000000",
        "begins with a word like term 0; fires on a word like term 1 within 600 cycles of it",
        "armed",
    ]


@pytest.mark.parametrize("name", ["--on", "--term", "--then"])
def test_an_option_of_the_trigger_that_is_given_twice_is_refused(name: str) -> None:
    more = ("--on", "rx_enq", "--term", "flow=3", "--then", "flow=4")
    said = refusal("trigger", "emu:", *more, name, "kind=TAIL")
    assert f"{name} is given 2 times: " in said


def test_a_trigger_is_json_for_a_machine_and_off_when_it_was_never_set() -> None:
    document = json.loads(run_inside("trigger", "emu:", "--json").out)
    assert (document["enabled"], document["armed"]) == (False, False)
    assert run_inside("trigger", "emu:").out == "A: trigger off\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--on", "rx_enq"), "a trigger needs both --on TAP and --term TERM"),
        (("--then", "kind=HEAD"), "--then needs the --term that comes before it"),
        (("--on", "rx_enq", "--term", "flow=3", "--off"), "--off and --on contradict each other"),
    ],
    ids=["no term", "no first", "off and on"],
)
def test_a_trigger_that_is_half_said_is_bad_input(arguments: tuple[str, ...], message: str) -> None:
    assert message in refusal("trigger", "emu:", *arguments)


@pytest.mark.parametrize(
    ("target", "on", "term", "line"),
    [
        (
            "emu:",
            "rx_enq",
            "flow=99",
            "term 'flow=99': flow 99 is in no header of card forth: 0 to 7; data=VALUE/MASK takes any bits, as of a "
            "header that is damaged",
        ),
        (
            "emu:?profile=pci-sci",
            "blink_in",
            "kind=STATE",
            "kind=STATE: never at blink_in; there is HEAD, BODY, TAIL, PART, END, PART_USER, END_USER, BODY_USER, "
            "TAIL_USER",
        ),
    ],
)
def test_a_term_that_the_card_makes_impossible_is_one_line(
    target: str, on: str, term: str, line: str
) -> None:
    assert refusal("trigger", target, "--on", on, "--term", term) == f"freezeframe: {line}\n"
