"""Evidence that survives: a flipped bit is found and named, and takes its chunk with it and nothing else."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.damage import Damage, lines_of
from freezeframe.capture.folder.one_file import (
    cut_at_end,
    files_below,
    first_difference,
    pack,
    place_of,
    salvage_members,
)
from freezeframe.capture.folder.salvage import examine_any, salvage
from tests.campaign.bit_flips import flips
from tests.gui.cli import run_inside
from tests.gui.made_capture import made_capture


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_capture(tmp_path_factory.mktemp("whole") / "fault.ff").path


@pytest.fixture
def capture(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "fault.ff"))


def flip(file: Path, at: int, bit: int = 0) -> None:
    data = bytearray(file.read_bytes())
    data[at] ^= 1 << bit
    file.write_bytes(data)


def test_an_untouched_capture_has_no_damage_and_is_read_where_it_is(capture: Path) -> None:
    found = examine_any(capture)
    assert (found.damage, found.files) == ([], 17)
    assert salvage(capture) == (capture, [])


def test_a_flipped_bit_is_named_and_only_its_chunk_is_a_gap(capture: Path) -> None:
    before = CaptureFolder.open(capture).device("B").memories["rx_enq"].records.copy()
    flip(capture / "raw/B.rx_enq.rec", 3000, 5)
    with pytest.raises(CaptureFormatError, match=r"chunk 1 \(records 256..511\) of 2.*--salvage"):
        CaptureFolder.open(capture)
    place, damage = salvage(capture)
    assert [each.text for each in damage] == [
        "raw/B.rx_enq.rec: chunk 1, records 256..511, bytes 2304..4607: altered: bit 5 of byte 3000 is flipped"
    ]
    folder = CaptureFolder.open(place)
    memory = folder.device("B").memories["rx_enq"]
    assert memory.gaps == [(256, 256, "damaged in the capture since it was pulled")]
    assert (memory.records[:256] == before[:256]).all()
    assert folder.lost[-1] == f"damaged since it was pulled: {damage[0].text}"
    assert folder.manifest["salvaged"]["damage"] == [damage[0].text]


@pytest.mark.parametrize("file", ["manifest.json", "manifest.copy.json"])
def test_a_capture_has_its_manifest_twice(capture: Path, file: str) -> None:
    flip(capture / file, 200, 6)
    assert [each.text for each in examine_any(capture).damage] == [
        f"{file}: bytes 200..200: altered: bit 6 is flipped"
    ]
    CaptureFolder.open(salvage(capture).place)


@pytest.mark.parametrize("file", ["manifest.json", "manifest.copy.json"])
def test_a_manifest_that_was_cut_or_grew_is_told_as_that(capture: Path, file: str) -> None:
    data = (capture / file).read_bytes()
    size_B = len(data)
    for left, said in (
        (data[:-20], f"bytes {size_B - 20}..{size_B - 1}: cut, 20 B missing"),
        (b"", f"bytes 0..{size_B - 1}: cut, {size_B} B missing"),
        (data + b"xyz", f"bytes {size_B}..{size_B + 2}: was appended"),
    ):
        (capture / file).write_bytes(left)
        assert [each.text for each in examine_any(capture).damage] == [f"{file}: {said}"]


def test_two_damaged_manifests_are_the_end(capture: Path) -> None:
    for file in ("manifest.json", "manifest.copy.json"):
        flip(capture / file, 200, 6)
    assert examine_any(capture).manifest is None
    with pytest.raises(CaptureFormatError, match="nothing says what the rest is"):
        salvage(capture)
    (capture / "manifest.json").write_text("[]")
    (capture / "manifest.copy.json").unlink()
    with pytest.raises(CaptureFormatError, match=r"copy the folder again .*, or pull again$"):
        salvage(capture)  # is not advised where it is what was tried


def test_the_text_of_a_card_is_read_again_where_its_hash_says_which_bit_was_flipped(
    capture: Path,
) -> None:
    card = next((capture / "cards").iterdir())
    text = card.read_bytes()
    flip(card, 1000, 3)
    place = salvage(capture).place
    assert (place / "cards" / card.name).read_bytes() == text


def test_registers_of_a_damaged_chunk_are_not_read_and_the_others_are(capture: Path) -> None:
    before = dict(CaptureFolder.open(capture).device("A").registers)
    flip(capture / "raw/A.registers.bin", 12, 7)  # the second register of chunk 0
    after = dict(CaptureFolder.open(salvage(capture).place).device("A").registers)
    gone = set(before) - set(after)
    assert gone == set(list(before)[:64])
    assert {at: before[at] for at in after} == after


def test_a_missing_a_cut_and_an_extra_file_are_told_apart(capture: Path) -> None:
    (capture / "raw/A.tx_enq.rec").unlink()
    cut = capture / "raw/A.tx_deq.rec"
    cut.write_bytes(cut.read_bytes()[:3000])
    (capture / "raw/more.txt").write_text("x")
    assert [each.text for each in examine_any(capture).damage] == [
        "raw/A.tx_deq.rec: chunk 1, records 256..511, bytes 2304..4607: cut after 696 B of it, "
        "which have no hash of their own",
        "raw/A.tx_enq.rec: bytes 0..4607: missing",
        "raw/more.txt: is not in the manifest; only what was recorded belongs here",
    ]
    memories = CaptureFolder.open(salvage(capture).place).device("A").memories
    assert memories["tx_enq"].verified_chunks(256) == (0, 2)
    assert memories["tx_deq"].verified_chunks(256) == (1, 2)


@pytest.fixture
def mailed(capture: Path) -> Path:
    path = capture.with_name("fault.ff.zip")
    path.write_bytes(pack(files_below(capture, "fault.ff")))
    return path


def test_one_file_is_read_like_the_folder_and_by_any_unzip(capture: Path, mailed: Path) -> None:
    assert CaptureFolder.open(mailed).manifest == CaptureFolder.open(capture).manifest
    subprocess.run(["unzip", "-tq", mailed], check=True, stdout=subprocess.DEVNULL)
    assert pack(files_below(capture, "fault.ff")) == mailed.read_bytes()


def test_an_archive_of_another_program_is_read_as_well(capture: Path) -> None:
    path = capture.with_name("other.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files_below(capture, "x/fault.ff").items():
            archive.writestr(name, data)
    assert len(CaptureFolder.open(path).devices) == 2
    assert examine_any(path).damage == []


def _lying(capture: Path, how: str) -> bytes:
    """Return an archive that is hostile in one way."""
    files = files_below(capture, "fault.ff")
    data = bytearray(pack(files))
    first = len(next(iter(files.values())))
    directory = data.index(b"PK\x01\x02")
    match how:
        case "overlap":  # the second entry of the directory points at the first member
            second = data.index(b"PK\x01\x02", directory + 1)
            name = len("fault.ff/manifest.copy.json")
            data[second + 42 : second + 46] = data[directory + 42 : directory + 46]
            assert data[second + 46 : second + 46 + name].startswith(b"fault.ff/manifest")
        case "contradicts":  # the directory says that the first member is one byte longer
            data[directory + 20 : directory + 24] = (first + 1).to_bytes(4, "little")
        case "outside":
            return pack({"fault.ff/manifest.json": b"{}", "fault.ff/../../x": b""})
        case "promises":  # 2 TiB in all
            files = {f"fault.ff/{n}": b"" for n in range(600)} | {"fault.ff/manifest.json": b"{}"}
            data = bytearray(pack(files))
            at = 0
            while (at := data.find(b"PK\x01\x02", at + 1)) > 0:
                data[at + 24 : at + 28] = (0xFFFFFFF0).to_bytes(4, "little")
            at = -1
            while (at := data.find(b"PK\x03\x04", at + 1)) >= 0:
                data[at + 22 : at + 26] = (0xFFFFFFF0).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("overlap", "has another name there|begins inside of"),
        ("contradicts", "contradicts itself is not unpacked"),
        ("outside", "no name inside of a folder"),
        ("promises", "at most 68719476736 B are unpacked"),
    ],
)
def test_a_hostile_archive_is_refused_before_anything_is_unpacked(
    capture: Path, how: str, why: str
) -> None:
    path = capture.with_name(f"{how}.ff.zip")
    path.write_bytes(_lying(capture, how))
    with pytest.raises(InputError, match=why):
        place_of(path)


def test_members_that_stand_twice_are_refused(capture: Path) -> None:
    path = capture.with_name("twice.ff.zip")
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        for _ in range(2):
            archive.writestr("fault.ff/manifest.json", b"{}")
    with pytest.raises(CaptureFormatError, match="stands twice in the archive"):
        place_of(path)


def test_single_bit_flips_are_all_found_and_the_rest_is_read(capture: Path, mailed: Path) -> None:
    results = list(flips([capture, mailed], 40, seed=1))
    assert [r for r in results if not (r.found and r.read)] == []


_METADATA = """[global]
sigrok version=0.5.2

[device 1]
capturefile=logic-1
total probes=2
samplerate=1 MHz
probe1=SCL
probe2=SDA
unitsize=1
"""


def _samples_file() -> bytes:
    """Return a sigrok session as it is recorded: a zip archive, of which one member is not packed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("version", b"2", zipfile.ZIP_STORED)
        archive.writestr("metadata", _METADATA)
        archive.writestr("logic-1-1", bytes(range(256)) * 8)
    return out.getvalue()


def _in_and_beside(capture: Path, path: Path) -> dict[str, bytes]:
    """Pack a capture with archives in it and beside it, one of them a capture; return what is packed."""
    inner = _samples_file()
    files = files_below(capture, "fault.ff")
    files = {**files, "fault.ff/raw/1/xfp.sr": inner, "a.sr": inner, "a.ff.zip": pack(files)}
    path.write_bytes(pack({**files, "versions.json": b"{}"}))
    return files


def test_archives_in_a_bundle_and_beside_the_capture_are_bytes_like_others(capture: Path) -> None:
    path = capture.with_name("in.ff.zip")
    files = _in_and_beside(capture, path)
    data = path.read_bytes()
    assert first_difference(data) is None
    assert salvage_members(data) == {**files, "versions.json": b"{}"}
    assert salvage_members(data[: data.index(b"a.ff.zip") + 9000]).keys() == files.keys() - {
        "a.ff.zip"
    }


@pytest.mark.parametrize("member", ["fault.ff/raw/1/xfp.sr", "a.sr", "a.ff.zip"])
@pytest.mark.parametrize("at", [0, 3, 8, 10, 14, 17, 18, 21, 22, 26, 28])
def test_a_flipped_bit_in_the_header_before_an_archive_is_found_where_it_is(
    capture: Path, member: str, at: int
) -> None:
    path = capture.with_name("in.ff.zip")
    files = _in_and_beside(capture, path)
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo(member).header_offset + at
    flip(path, place, 2)
    assert first_difference(path.read_bytes()) == place
    assert salvage_members(path.read_bytes()) == {**files, "versions.json": b"{}"}


def test_a_flipped_bit_of_the_directory_of_a_bundle_with_archives_is_found_where_it_is(
    capture: Path,
) -> None:
    path = capture.with_name("in.ff.zip")
    files = _in_and_beside(capture, path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        first = archive.start_dir
    names = {at for name in [*files, "versions.json"] for at in _bytes_of(whole, name, first)}
    wrong = []
    # Of an entry of 46 bytes and a name all have their turn, in three of them.
    for at in set(range(first, len(whole), 3)) - names:
        data = bytearray(whole)
        data[at] ^= 4
        if first_difference(bytes(data)) != at:
            wrong.append(at)
    assert wrong == []


def _bytes_of(data: bytes, name: str, first: int) -> range:
    at = data.index(name.encode(), first)
    return range(at, at + len(name))


def test_a_bundle_of_samples_with_a_session_of_sigrok_in_it_and_one_beside_it_is_whole(
    tmp_path: Path,
) -> None:
    session = tmp_path / "xfp.sr"
    session.write_bytes(_samples_file())
    place, path = tmp_path / "xfp.ff", tmp_path / "xfp.ff.zip"
    assert run_inside("import", str(session), "-o", str(place)).code == 0
    for more in ([], ["--add", str(session)]):
        packed = run_inside("bundle", str(place), "-o", str(path), "--force", *more)
        assert packed.code == 0, packed.err
        verified = run_inside("verify", str(path))
        assert (verified.code, verified.err) == (0, ""), verified.out
        with zipfile.ZipFile(path) as archive:
            headers = [member.header_offset for member in archive.infolist()]
        for header in headers:
            flip(path, header + 14)
            verified = run_inside("verify", str(path))
            where = f"bytes {header + 14}..{header + 14}: altered beside what is packed"
            assert (verified.code, where in verified.out) == (1, True), verified.out
            flip(path, header + 14)


@pytest.mark.parametrize("name", ["v1_0.zip", "v1_1.zip"])
def test_a_capture_of_an_older_version_has_no_copy_of_its_manifest_to_miss(name: str) -> None:
    found = examine_any(Path(__file__).with_name("golden") / name)
    assert found.damage == []
    assert found.chunks >= found.files > 3


def test_chunks_one_behind_the_other_to_which_the_same_happened_are_one_line() -> None:
    cut = "missing: the file was cut"
    damage = [
        Damage("raw/A.tx_deq.rec", 0, 2304, "altered", 0),
        *(Damage("raw/A.tx_deq.rec", 2304 * n, 2304, cut, n) for n in range(2, 17)),
        Damage("raw/A.tx_enq.rec", 2304 * 17, 2304, cut, 17),
        Damage("raw/A.tx_enq.rec", 2304 * 19, 900, cut, 19),
        Damage("raw/B.tx_enq.rec", 0, 5400, "missing"),
    ]
    assert lines_of(damage) == [
        "raw/A.tx_deq.rec: chunk 0, records 0..255, bytes 0..2303: altered",
        "raw/A.tx_deq.rec: 15 chunks, 2..16, records 512..4351, bytes 4608..39167: missing: the file was cut",
        "raw/A.tx_enq.rec: chunk 17, records 4352..4607, bytes 39168..41471: missing: the file was cut",
        "raw/A.tx_enq.rec: chunk 19, records 4864..4963, bytes 43776..44675: missing: the file was cut",
        "raw/B.tx_enq.rec: bytes 0..5399: missing",
    ]
    assert lines_of([]) == []


def test_an_archive_that_was_cut_is_told_as_cut_and_where(capture: Path) -> None:
    path = capture.with_name("cut.ff.zip")
    whole = pack({**files_below(capture, "fault.ff"), "last.html": b"x" * 5000})
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        directory, last = archive.start_dir, archive.getinfo("last.html").header_offset
    assert cut_at_end(whole) == ""
    for lost_B in (1, 13, 22, 300, len(whole) - directory - 4):
        data = whole[: len(whole) - lost_B]
        verb = "is" if lost_B == 1 else "are"
        assert cut_at_end(data) == f"cut at its end: {lost_B:,} B of its directory {verb} missing"
    for left_B in (0, 1, 3):  # of the directory
        assert cut_at_end(whole[: directory + left_B]) == (
            "cut at its end, behind last.html: the directory is missing"
        )
    within = whole[: last + 30 + len("last.html") + 1234]
    assert cut_at_end(within) == (
        "cut at its end, within last.html: 1,234 of 5,000 B of that are here, and nothing that was behind it"
    )
    for data in (within, whole[:-300]):
        path.write_bytes(data)
        examined = examine_any(path)
        assert [each.text for each in examined.damage] == [f"cut.ff.zip: {cut_at_end(data)}"]
        assert salvage(path).place is not None
    flipped = bytearray(whole)
    flipped[-5] ^= 1  # of the mark at the end: altered, and not cut
    assert cut_at_end(bytes(flipped)) == ""


@pytest.mark.parametrize("left_B", [0, 1000, 300_000])
def test_who_reads_an_archive_that_was_cut_is_told_of_what_can_still_be_read(
    capture: Path, left_B: int
) -> None:
    path = capture.with_name("cut.ff.zip")
    whole = pack(files_below(capture, "fault.ff"))
    path.write_bytes(whole[: min(left_B, len(whole) - 100)])
    with pytest.raises(CaptureFormatError) as caught:
        CaptureFolder.open(path)
    advice = "; freezeframe verify lists all damage, and --salvage reads the rest"
    if left_B:
        assert str(caught.value).endswith(f"it was cut short, copy it again{advice}")
    else:
        assert str(caught.value) == f"{path}: the file is empty"


def test_an_archive_that_is_named_as_no_capture_is_not_said_to_be_salvaged(capture: Path) -> None:
    path = capture.with_name("cut.zip")
    path.write_bytes(pack(files_below(capture, "fault.ff"))[:1000])
    with pytest.raises(CaptureFormatError, match=r"it was cut short, copy it again$"):
        CaptureFolder.open(path)


def test_of_an_archive_of_another_program_the_damage_is_told_without_advice(capture: Path) -> None:
    path = capture.with_name("cut.ff.zip")
    packed = shutil.make_archive(
        str(capture.with_name("other")), "zip", capture.parent, capture.name
    )
    path.write_bytes(Path(packed).read_bytes()[:-30])
    texts = [each.text for each in examine_any(path).damage]
    assert any("without a readable directory at its end" in text for text in texts)
    assert not any("--salvage" in text for text in texts)


def test_a_damaged_archive_that_is_too_large_to_be_salvaged_is_refused_in_one_line(
    capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("freezeframe.capture.folder.salvage._ARCHIVE_B", 500)
    path = capture.with_name("cut.ff.zip")
    path.write_bytes(pack(files_below(capture, "fault.ff"))[:1000])
    with pytest.raises(CaptureFormatError, match=r"it was cut short, copy it again$"):
        examine_any(path)
