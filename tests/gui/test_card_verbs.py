"""The verbs on a card that is described by a file: from a device to its explanation and to Wireshark."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import freezeframe as ff
from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.finding import text_hash
from freezeframe.capture.card.reading import parse_card, read_card
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedTap
from freezeframe.capture.card.shipped import shipped_cards
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.guard import guard
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import CardImage, empty_recording
from tests.campaign.card_model import SHAPES, run_card
from tests.capture.serving import serving
from tests.decoders.tap.model import TapModel, frame_beats
from tests.gui.cli import refusal, run_inside

_CARD_TEXT = shipped_cards()["ethernet-axis-64"].read_text("utf-8")
_CARD = elaborate(read_card(shipped_cards()["ethernet-axis-64"]))
_BAD = 3


def _frame(number: int) -> bytes:
    body = bytes.fromhex("020000000001 020000000002 88b5") + bytes([number]) * 46
    fcs = zlib.crc32(body).to_bytes(4, "little")
    return body + (bytes([fcs[0] ^ 1]) + fcs[1:] if number == _BAD else fcs)


def _recorded() -> CardRecording:
    """Six frames of 64 bytes at both taps; the check sequence of frame 3 was wrong when it came."""
    empty = empty_recording(_CARD)
    taps = {}
    for place, tap in enumerate(_CARD.taps):
        model = TapModel(8, latency=tap.latency_cycles)
        for number in range(6):
            model.feed(frame_beats(_frame(number), 100 + 20 * number + 5 * place, 8))
        lanes, pointer, wrapped, stored = model.memories(tap.said.depth, 400)
        taps[tap.name] = RecordedTap(tap, tuple(lanes), pointer, wrapped, stored=stored, offered=48)
    counters = {name: 6 for name, _ in _CARD.counters} | {"rx_dropped": 0}
    return replace(empty, taps=taps, counters=counters, causes=0b1000)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("card") / "fault.ff"
    pull(CardImage([_recorded()]), place)
    return place


def test_a_bad_frame_is_explained_where_it_was_first_seen(capture: Path) -> None:
    done = run_inside("explain", str(capture), "--fail-on-findings")
    assert done.code == 1
    assert done.out.startswith("fault.ff, A (ethernet-axis-64): 1 finding, frozen by bad_fcs")
    assert "bad-on-arrival: a packet was bad when it came to A.rx_in" in done.out
    assert "confidence  not counted yet" in done.out
    (device,) = json.loads(run_inside("explain", str(capture), "--json").out)["devices"]
    assert device["card"] == {"name": "ethernet-axis-64", "hash": f"{_CARD.hash:016x}"}
    (finding,) = device["findings"]
    assert (finding["diagnosis"], finding["tap"], finding["packet"]) == (
        "bad-on-arrival",
        "rx_in",
        _BAD,
    )


def test_decode_lists_the_packets_of_each_tap(capture: Path) -> None:
    out = run_inside("decode", str(capture)).out
    assert "# A.rx_in, 7 rows" in out
    assert "#0 64 B, good: 02 00 00 00 00 01 02 00 00 00 00 02 88 b5 00 00 ..." in out
    assert "! #3 its CRC does not match" in out
    tables = json.loads(run_inside("decode", str(capture), "--json").out)["tables"]
    assert [table["name"] for table in tables] == ["A.rx_in", "A.rx_out"]
    row = tables[0]["rows"][0]
    assert (row["wire_B"], row["verdict"], row["ethertype"], row["cycle"]) == (
        64,
        "good",
        0x88B5,
        100,
    )
    assert row["fcs"] == zlib.crc32(_frame(0)[:-4])


def test_decode_refuses_options_for_samples(capture: Path) -> None:
    assert "leave those options out" in refusal("decode", str(capture), "--cut", "1ms..2ms")


def test_pcapng_holds_the_frames_with_a_comment_on_the_bad_one(
    capture: Path, tmp_path: Path
) -> None:
    place = tmp_path / "x.pcapng"
    done = run_inside("export", str(capture), "--to", "pcapng", "-o", str(place))
    assert "packets of A.rx_in: 6" in done.out
    blocks = _blocks(place.read_bytes())
    interfaces = [body for kind, body in blocks if kind == 1]
    assert [struct.unpack_from("<H", body)[0] for body in interfaces] == [1, 1]  # Ethernet
    packets = [body for kind, body in blocks if kind == 6]
    assert len(packets) == 12
    assert {struct.unpack_from("<II", body, 12) for body in packets} == {(64, 64)}
    assert packets[0][20:84] == _frame(0)
    commented = [body for body in packets if b"error: its CRC does not match" in body]
    assert [body[20:84] for body in commented] == [_frame(_BAD)] * 2


def _blocks(data: bytes) -> list[tuple[int, bytes]]:
    blocks, at = [], 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        blocks.append((kind, data[at + 8 : at + length - 4]))
        at += length
    return blocks


def test_other_formats_say_what_a_card_goes_to(capture: Path, tmp_path: Path) -> None:
    said = refusal("export", str(capture), "--to", "vcd", "-o", str(tmp_path / "x.vcd"))
    assert "the packets of a card go to pcapng, csv and parquet" in said
    assert (
        run_inside("export", str(capture), "--to", "csv", "-o", str(tmp_path / "x.csv")).code == 0
    )
    assert (tmp_path / "x.A.rx_in.csv").read_text().count("\n") == 8


def test_the_laws_of_the_card_are_checked(capture: Path, tmp_path: Path) -> None:
    done = run_inside("check", str(capture))
    assert (done.code, done.out.split(": ")[1].startswith("0 laws broken")) == (0, True)
    lost = replace(_recorded(), counters={"rx_in_packets": 6, "rx_out_packets": 7, "rx_dropped": 0})
    pull(CardImage([lost]), tmp_path / "x.ff")
    broken = run_inside("check", str(tmp_path / "x.ff"))
    assert broken.code == 1
    assert "rx_in_packets 6 - rx_out_packets 7 - rx_dropped 0 = -1" in broken.out


def test_python_does_the_same(capture: Path) -> None:
    folder = ff.open(capture)
    assert isinstance(folder, CardFolder)
    assert [finding.diagnosis for finding in ff.explain(folder).findings] == ["bad-on-arrival"]
    assert all(law.holds is not False for law in ff.check(folder))
    packets = ff.decode(folder)["A.rx_in"]
    assert packets[packets["kind"] == "error"]["number"].tolist() == [_BAD]
    by_path = ff.explain(capture), ff.check(str(capture)), ff.decode(capture)
    assert by_path[0].findings == ff.explain(folder).findings
    assert by_path[1] == ff.check(folder)
    assert isinstance(by_path[2], dict)
    assert by_path[2]["A.rx_in"].equals(packets)


def test_the_crc_that_stands_and_that_of_the_bytes_are_the_evidence(capture: Path) -> None:
    good = zlib.crc32(_frame(_BAD)[:-4])
    explanation = ff.explain(capture)
    assert isinstance(explanation, CardExplanation)
    (finding,) = explanation.findings
    told = finding.evidence[0]
    assert told.text == (
        f"For: its CRC is wrong; FCS {good ^ 1:#010x}, its bytes give {good:#010x}"
    )
    (row,) = told.rows
    assert row.label == f"packet {_BAD}, its last word"
    assert row.value == int.from_bytes(_frame(_BAD)[-8:], "little")


def test_a_frame_with_a_preamble_is_as_long_in_every_answer_as_one_without(tmp_path: Path) -> None:
    text = _CARD_TEXT.replace('fcs = "present" ', 'fcs = "present"\npreamble = true')
    card = elaborate(parse_card(text))
    assert card.said.format["eth"].preamble
    taps = {}
    for place, tap in enumerate(card.taps):
        model = TapModel(8, latency=tap.latency_cycles)
        for number in range(6):
            data = bytes.fromhex("55555555555555d5") + _frame(number)
            model.feed(frame_beats(data, 100 + 20 * number + 5 * place, 8))
        lanes, pointer, wrapped, stored = model.memories(tap.said.depth, 400)
        taps[tap.name] = RecordedTap(tap, tuple(lanes), pointer, wrapped, stored=stored, offered=54)
    made = replace(empty_recording(card), taps=taps, causes=0b1000)
    pull(CardImage([made]), tmp_path / "x.ff")
    assert "Packet 3 at rx_in, 64 B, was bad" in run_inside("explain", str(tmp_path / "x.ff")).out
    assert "#0 64 B, good" in run_inside("decode", str(tmp_path / "x.ff")).out
    report = tmp_path / "x.html"
    run_inside("report", str(tmp_path / "x.ff"), "-o", str(report))
    page = report.read_text("utf-8")
    assert '<td class="n">57.6 ns</td><td class="n">64</td><td>good</td>' in page


def test_an_export_without_a_packet_says_so(tmp_path: Path) -> None:
    pull(CardImage([empty_recording(_CARD)]), tmp_path / "x.ff")
    done = run_inside("export", str(tmp_path / "x.ff"), "--to", "pcapng", "-o", str(tmp_path / "x.pcapng"))  # fmt: skip
    assert done.code == 0
    assert (
        "note: a file without a packet: none is in A.rx_in, A.rx_out; freezeframe explain "
        f"{tmp_path / 'x.ff'} says what is\n"
    ) in done.err


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_explained_of_a_pulled_recording_is_what_is_explained_of_the_card_itself(
    shape: str, tmp_path: Path
) -> None:
    made, truth = run_card(shape, "beat-omitted", 3)
    recording = replace(made, features=made.features | Feature.CRC_TABLE | Feature.TIME_PAIRS)
    assert pull(CardImage([recording]), tmp_path / "x.ff").complete
    folder = CardFolder.open(tmp_path / "x.ff")
    pulled, direct = ff.explain(folder), explain_card(recording)
    assert pulled.to_json() == direct.to_json()
    (finding,) = pulled.findings
    assert finding.diagnosis == truth.name


def test_a_guard_pulls_a_card_by_its_file_and_arms_it_again(tmp_path: Path) -> None:
    target, log, captures = CardImage([_recorded()]), list[str](), list[Path]()
    with serving(target) as url:
        pulled = guard(
            url,
            2,
            tmp_path / "case",
            lambda report: captures.append(report.path),
            lambda: bool(captures),
            log=log.append,
        )
    assert pulled == 1
    assert captures[0].name.endswith("-1-bad-fcs.ff")
    assert target.device(0).get("id.generation") == 2
    assert CardFolder.open(captures[0]).devices[0].recording().cause_names == ("bad_fcs",)


def test_arming_says_which_clocks_are_no_part_of_the_recording() -> None:
    image = CardImage([_recorded()])
    image.device(0).set("ctl.clocks_alive", 1)
    with serving(image) as url:
        done = run_inside("arm", url, "--discard")
        (row,) = json.loads(run_inside("arm", url, "--json").out)["devices"]
    assert done.out == (
        "A: armed, generation 2\n"
        "given up: A generation 1 (bad_fcs) is frozen, and this host has not kept it\n"
        "A: clock rx stands still; its taps record nothing, and nothing waits for them. Once it runs, arm again\n"
    )
    assert row["clocks"] == {"bus": True, "rx": False}


def test_two_cards_of_one_name_are_told_apart_by_their_hashes(tmp_path: Path) -> None:
    text = shipped_cards()["ethernet-axis-64"].read_text()
    other = elaborate(parse_card(text.replace("capacity_words = 512", "capacity_words = 256", 1)))
    assert (other.name, other.hash != _CARD.hash) == (_CARD.name, True)
    pull(CardImage([_recorded(), empty_recording(other)]), tmp_path / "x.ff")
    done = run_inside("explain", str(tmp_path / "x.ff"), "--json")
    hashes = [device["card"]["hash"] for device in json.loads(done.out)["devices"]]
    assert hashes == [f"{_CARD.hash:016x}", f"{other.hash:016x}"]
    with pytest.raises(
        ff.InputError, match="cards are explained one at a time; choose with devices"
    ):
        ff.explain(CardFolder.open(tmp_path / "x.ff"))
    assert not ff.explain(CardFolder.open(tmp_path / "x.ff"), ["B"]).findings


def test_a_rom_of_a_newer_schema_and_a_damaged_one_are_one_line_with_place_and_remedy(
    tmp_path: Path,
) -> None:
    newer = _CARD.text.replace('"schema":1', '"schema":2')
    for texts, flip, says in (
        ({0: newer}, 0, "ROM: the card's text is of schema 2, this program reads 1: update Freezeframe\n"),
        ({}, 1 << 20, "; give the card's file with ?card=FILE, or load the bitstream again\n"),
    ):  # fmt: skip
        image = CardImage([_recorded()], texts=texts)
        hash_ = text_hash(texts.get(0, _CARD.text))
        image.device(0).set("id.card_hash_lo", hash_ & 0xFFFFFFFF)
        image.device(0).set("id.card_hash_hi", hash_ >> 32)
        image.device(0).flip(0x8008, flip)
        with serving(image) as url:
            for verb in (["status", url], ["pull", url, "-o", str(tmp_path / "x.ff")]):
                said = refusal(*verb, code=3)
                assert said.startswith(f"freezeframe: {url}: device 0 at 0x00000000")
                assert said.endswith(says)
    assert not (tmp_path / "x.ff").exists()


def test_a_capture_without_its_card_is_one_line_with_place_and_remedy_in_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    own = elaborate(parse_card(_CARD_TEXT.replace("156_250_000", "156_250_001")))
    pull(CardImage([empty_recording(own)]), tmp_path / "own.ff")
    (text,) = (tmp_path / "own.ff" / "cards").iterdir()
    text.unlink()
    for verb in ("explain", "check", "decode"):
        said = refusal(verb, str(tmp_path / "own.ff"))
        assert said.startswith(
            f"freezeframe: {text}: the capture is without its card, and none of "
        )
        assert said.endswith(
            f"put the file it was built from into {tmp_path}/config/freezeframe/cards\n"
        )
