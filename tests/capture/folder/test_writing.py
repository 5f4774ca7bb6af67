"""A capture stands at its place whole or not at all, whatever the disk does meanwhile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from freezeframe.capture import durable
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder import CaptureFolder
from tests.capture.folder.samples import a_device, write


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 16 KiB; a capture of one device needs more."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and os.geteuid() == 0
    if mounted:
        mount = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)],
            check=False,
            capture_output=True,
        )
        mounted = mount.returncode == 0
    if not mounted:
        pytest.skip("mounting a tmpfs needs root and the mount capability")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_is_reported_with_what_was_needed_and_nothing_is_left(tiny_disk: Path) -> None:
    with pytest.raises(InputError) as caught:
        write(tiny_disk / "x.ff", a_device(0), a_device(1), a_device(2))
    message = str(caught.value)
    assert "x.ff: no space left: the capture needs 6" in message
    assert "B are free; nothing was left behind" in message
    assert "the recording stays in the device" in message
    assert list(tiny_disk.iterdir()) == []


def test_a_full_disk_under_files_that_are_copied_says_nothing_of_a_device(tiny_disk: Path) -> None:
    def copy(path: Path) -> None:
        path.write_bytes(bytes(1 << 20))

    files: dict[str, durable.Content] = {"manifest.json": b"{}", "raw/1/long.sr": copy}
    with pytest.raises(InputError) as caught:
        durable.write_folder(tiny_disk / "x.ff", files, overwrite=False, mark="manifest.json")
    message = str(caught.value)
    assert re.fullmatch(
        r".*x\.ff: no space left: \d+ B are free; nothing was left behind\. Make room or choose "
        r"another place",
        message,
    )
    assert list(tiny_disk.iterdir()) == []


@pytest.mark.parametrize("function", ["mkdir", "write", "fsync", "rename"])
def test_whatever_the_system_refuses_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    module = Path if function in ("mkdir", "rename") else os
    monkeypatch.setattr(module, function, refuse)
    with pytest.raises(InputError, match=r"x\.ff: could not be written: Input/output error"):
        write(tmp_path / "x.ff")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_takes_only_part_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: Callable[[int, bytes], int] = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: whole(fd, bytes(data[:1000])))
    folder = write(tmp_path / "x.ff")
    monkeypatch.undo()
    assert len(CaptureFolder.open(folder).devices) == 1


def test_an_interrupt_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "x.ff")
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_killed_leaves_no_folder_of_that_name(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from tests.capture.folder.samples import write
        real, synced = os.fsync, []
        def fsync(descriptor):
            real(descriptor)
            synced.append(descriptor)
            if len(synced) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        os.fsync = fsync
        write(Path(sys.argv[1]))
    """)
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "x.ff")],
        check=False,
        cwd=root,
        capture_output=True,
    )
    assert ended.returncode == -9, ended.stderr
    assert not (tmp_path / "x.ff").exists()
    (left,) = tmp_path.iterdir()
    match = durable.PARTIAL.fullmatch(left.name)
    assert match is not None
    assert match["name"] == "x.ff"


def test_everything_is_on_the_disk_before_the_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, rename = os.fsync, Path.rename

    def fsync(descriptor: int) -> None:
        done.append("sync " + Path(f"/proc/self/fd/{descriptor}").readlink().name)
        sync(descriptor)

    def renamed(self: Path, target: Path) -> Path:
        done.append(f"rename {target.name}")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", renamed)
    write(tmp_path / "x.ff")
    at = done.index("rename x.ff")
    files = {"A.tx_enq.rec", "A.event_log.rec", "A.samples.bin", "A.registers.bin"}
    assert {f"sync {name}" for name in files | {"manifest.json", "raw"}} <= set(done[:at])
    assert done[at + 1 :] == [f"sync {tmp_path.name}"]


def test_a_folder_that_stands_there_is_not_overwritten_unless_asked(tmp_path: Path) -> None:
    folder = write(tmp_path / "x.ff", a_device(0))
    with pytest.raises(InputError, match=r"x\.ff: exists already; .*\(--force\)"):
        write(folder, a_device(1))
    assert [d.name for d in CaptureFolder.open(folder).devices] == ["A"]
    write(folder, a_device(1), overwrite=True)
    assert [d.name for d in CaptureFolder.open(folder).devices] == ["B"]
    assert [p.name for p in tmp_path.iterdir()] == ["x.ff"]


def test_a_replacement_that_fails_leaves_the_old_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "x.ff", a_device(0))
    rename = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(InputError):
        write(folder, a_device(1), overwrite=True)
    assert [d.name for d in CaptureFolder.open(folder).devices] == ["A"]
    assert [p.name for p in tmp_path.iterdir()] == ["x.ff"]


def test_what_is_no_capture_is_not_replaced_even_when_asked(tmp_path: Path) -> None:
    place = tmp_path / "home"
    place.mkdir()
    (place / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match=r"home: is not a folder with a manifest\.json"):
        write(place, overwrite=True)
    assert (place / "letter.txt").read_text() == "mine"
    file = tmp_path / "file.ff"
    file.write_text("mine")
    with pytest.raises(InputError, match="is not replaced"):
        write(file, overwrite=True)
    link = tmp_path / "link.ff"
    link.symlink_to(place)
    with pytest.raises(InputError, match="is not replaced"):
        write(link, overwrite=True)


def test_a_missing_directory_is_named_before_anything_is_pulled(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the directory .*none does not exist; create it"):
        write(tmp_path / "none/x.ff")


def test_a_removed_folder_never_shows_half_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "x.ff")
    seen = []
    remove = shutil.rmtree

    def rmtree(path: Path) -> None:
        seen.append((path.name.startswith(".x.ff.removed-"), folder.exists()))
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", rmtree)
    durable.remove_folder(folder)
    assert seen == [(True, False)]
    assert list(tmp_path.iterdir()) == []
