"""netdev: on this machine: the kernel asked by netlink and ioctl; a veth pair under traffic in a name space."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from freezeframe.capture.counters.ethtool import DriverStatistics
from freezeframe.capture.counters.netlink import LinkSocket
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.errors import InputError
from tests.processes import run_program

FRAMES = 500

# Runs inside the name space: frames from va to vb, counted by the program under test and by sysfs' own files.
SCRIPT = f"""
import json, os, socket, subprocess, sys, time
from pathlib import Path
from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.counters.reader import SourceReader

sources = [open_source("netdev:va"), open_source("netdev:vb")]
before = [source.read().values for source in sources]
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("va", 0))
frame = b"\\xff" * 6 + b"\\x02\\0\\0\\0\\0\\x01" + b"\\x88\\xb5" + bytes(86)
for _ in range({FRAMES}):
    sender.send(frame)
end = time.monotonic() + 10
while True:
    after = [source.read().values for source in sources]
    if after[1]["rx_packets"] - before[1]["rx_packets"] >= {FRAMES} or time.monotonic() > end:
        break
    time.sleep(0.01)
grown = [{{key: b[key] - a[key] for key in b}} for a, b in zip(before, after)]
reader = SourceReader(sources[1], lambda: open_source("netdev:vb"), 0.02)
reader.start()
subprocess.run(["ip", "link", "del", "va"], check=True)
end = time.monotonic() + 10
while reader.trouble is None and time.monotonic() < end:
    time.sleep(0.01)
trouble = reader.trouble
subprocess.run(["ip", "link", "add", "va", "type", "veth", "peer", "name", "vb"], check=True)
while reader.trouble is not None and time.monotonic() < end:
    time.sleep(0.01)
back = reader.trouble is None and reader.last.values["rx_packets"]
reader.stop()
print(json.dumps({{"grown": grown, "trouble": trouble, "back": back}}))
"""


def test_the_loopback_interface_has_the_kernels_counters_and_they_equal_sysfs_when_nothing_moves() -> (
    None
):
    if not Path("/sys/class/net/lo/statistics").is_dir():
        pytest.skip("no sysfs here")
    for _ in range(50):
        before = int(Path("/sys/class/net/lo/statistics/rx_bytes").read_text())
        values = open_source("netdev:lo").read().values
        after = int(Path("/sys/class/net/lo/statistics/rx_bytes").read_text())
        assert before <= values["rx_bytes"] <= after
        assert values["rx_packets"] == values["tx_packets"]  # what lo sends, it receives


def test_one_answer_of_netlink_names_the_interface_by_its_number() -> None:
    import socket

    link = LinkSocket("lo")
    assert link.read().index == socket.if_nametoindex("lo")
    link.close()


def test_an_interface_that_is_none_is_an_error_of_the_kernel_and_of_ours() -> None:
    link = LinkSocket("no-such-if")
    with pytest.raises(OSError, match=r"[Nn]o such device"):
        link.read()
    link.close()
    with pytest.raises(
        InputError,
        match=r"netdev:no-such-if: there is no such network interface here; there are .*lo",
    ):
        open_source("netdev:no-such-if")


def test_a_driver_without_statistics_of_its_own_has_none() -> None:
    driver = DriverStatistics("lo")
    assert (driver.names, driver.read()) == ([], {})
    driver.close()


def test_a_veth_pair_under_traffic_counts_every_frame_on_both_ends_and_comes_back_after_it_was_deleted() -> (
    None
):
    if not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("no unshare or ip on this machine")
    setup = (
        "ip link set lo up && ip link add va type veth peer name vb && "
        'ip link set va addrgenmode none up && ip link set vb addrgenmode none up && exec "$0" -c "$1"'
    )
    probe = run_program(["unshare", "-n", "ip", "link", "add", "va", "type", "veth"])
    if probe.returncode:
        pytest.skip(
            f"no network name space with a veth pair may be made here: {probe.stderr.strip()}"
        )
    done = run_program(["unshare", "-n", "sh", "-c", setup, sys.executable, SCRIPT])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    sent, received = found["grown"]
    assert sent["tx_packets"] == FRAMES
    assert sent["tx_bytes"] == 100 * FRAMES
    assert received["rx_packets"] == FRAMES
    assert received["rx_bytes"] == 100 * FRAMES
    assert any(key.startswith("driver.") for key in sent)
    assert found["trouble"].startswith("netdev:vb: the interface is gone")
    assert found["back"] == 0
