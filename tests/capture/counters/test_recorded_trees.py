"""netdev: and rdma: on a recorded sysfs: every file a counter, the device's interrupts and PCIe errors beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from freezeframe.capture.counters.sources import open_source
from freezeframe.capture.errors import InputError, TargetError
from tests.capture.counters.made_tree import PCI, made_tree, write


def test_an_interface_gives_the_kernels_statistics_and_its_link(tmp_path: Path) -> None:
    source = open_source("netdev:eth9", made_tree(tmp_path))
    sample = source.read()
    assert sample.values["rx_packets"] == 5000
    assert sample.values["rx_crc_errors"] == 3
    assert sample.values["carrier_changes"] == 4
    assert sample.facts == {"link": "up, 25000 Mbit/s, full duplex"}
    counter = source.counters["rx_crc_errors"]
    assert (counter.kind, counter.unit, counter.metric) == (
        "counter",
        "packets",
        "netdev_rx_crc_errors",
    )
    assert "frame check sequence" in counter.help
    source.close()


def test_what_holds_no_number_is_no_value_and_no_error(tmp_path: Path) -> None:
    assert "tx_bytes" not in open_source("netdev:eth9", made_tree(tmp_path)).read().values


def test_the_interrupts_are_those_of_the_pci_device_summed_over_the_processors(
    tmp_path: Path,
) -> None:
    """Linux, proc(5): a line of /proc/interrupts has a count for each processor; msi_irqs names the device's lines."""
    source = open_source("netdev:eth9", made_tree(tmp_path))
    values = source.read().values
    assert {key: value for key, value in values.items() if key.startswith("irq.")} == {
        "irq.64": 105,
        "irq.65": 20,
        "irq.total": 125,
    }
    assert source.counters["irq.64"].labels == (("irq", "64"), ("name", "eth9-TxRx-0"))
    assert (values["softirq.NET_RX"], values["softirq.NET_TX"]) == (1234, 42)


def test_an_interface_without_a_device_finds_its_interrupts_by_its_name(tmp_path: Path) -> None:
    root = made_tree(tmp_path)
    assert "irq.total" not in open_source("netdev:tun0", root).read().values
    shutil.rmtree(root / PCI / "msi_irqs")
    values = open_source("netdev:eth9", root).read().values
    assert (values["irq.64"], values["irq.65"]) == (105, 20)
    assert "irq.66" not in values


def test_pcie_errors_are_counted_by_severity_and_kind_without_the_totals(tmp_path: Path) -> None:
    """Linux, sysfs-bus-pci-devices-aer_stats: one line a kind, and a total."""
    source = open_source("netdev:eth9", made_tree(tmp_path))
    assert {k: v for k, v in source.read().values.items() if k.startswith("aer.")} == {
        "aer.correctable.RxErr": 2,
        "aer.correctable.BadTLP": 7,
        "aer.fatal.Undefined": 0,
        "aer.fatal.TLP": 1,
    }
    assert source.counters["aer.fatal.TLP"].labels == (("severity", "fatal"), ("error", "TLP"))


def test_an_rdma_port_gives_both_folders_of_counters_but_not_the_cache_setting(
    tmp_path: Path,
) -> None:
    source = open_source("rdma:mlx5_0/1", made_tree(tmp_path))
    sample = source.read()
    assert sample.values["port_rcv_data"] == 1 << 40
    assert source.counters["port_rcv_data"].unit == "4 bytes"
    assert (sample.values["symbol_error"], sample.values["hw.out_of_sequence"]) == (6, 11)
    assert "hw.lifespan" not in sample.values
    assert sample.values["irq.total"] == 125
    assert sample.facts == {"link": "ACTIVE, LinkUp, 100 Gb/sec (2X HDR), Ethernet"}


def test_port_1_is_meant_where_none_is_named(tmp_path: Path) -> None:
    assert open_source("rdma:mlx5_0", made_tree(tmp_path)).url == "rdma:mlx5_0/1"


def test_a_value_that_changes_between_two_readings_is_seen(tmp_path: Path) -> None:
    root = made_tree(tmp_path)
    source = open_source("netdev:eth9", root)
    source.read()
    write(root, f"{PCI}/net/eth9/statistics/rx_packets", 5001)
    assert source.read().values["rx_packets"] == 5001


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("netdev:eth8", "no such network interface here; there are eth9, tun0"),
        ("netdev:", "not a name"),
        ("netdev:../eth9", "not a name"),
        ("rdma:mlx5_7/1", "no such RDMA device here; there are mlx5_0"),
        ("rdma:mlx5_0/2", "no such port; there are 1"),
        ("rdma:../net/1", "no such RDMA device"),
        ("eth9", "not a source of counters"),
        ("disk:sda", "not a source of counters"),
        ("file:x.ff", "holds no live counters"),
    ],
)
def test_what_is_not_there_is_refused_with_what_there_is(
    tmp_path: Path, name: str, says: str
) -> None:
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        open_source(name, made_tree(tmp_path))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder with a recorded sys and proc"):
        open_source("netdev:eth0", tmp_path / "nothing")


def test_an_interface_that_went_away_or_is_another_one_is_gone(tmp_path: Path) -> None:
    root = made_tree(tmp_path)
    source = open_source("netdev:tun0", root)
    folder = root / "sys/devices/virtual/net/tun0"
    kept = root / "kept"
    folder.rename(kept)
    with pytest.raises(TargetError, match="netdev:tun0: the interface is gone"):
        source.read()
    shutil.copytree(kept, folder)
    with pytest.raises(TargetError, match="gone"):
        source.read()
    assert open_source("netdev:tun0", root).read().values["tx_packets"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "CPU0\n",
        "CPU0 CPU1\n 64: x y z\n",
        "CPU0\n64\n64:\n: 5\n64: 99999999999999999999999 a\n",
        "\x00\xff\n64: 1 1\n" * 9,
    ],
    ids=["empty", "head only", "no numbers", "odd lines", "binary"],
)
def test_a_table_of_interrupts_that_is_none_gives_no_interrupts_and_no_error(
    tmp_path: Path, text: str
) -> None:
    root = made_tree(tmp_path)
    (root / "proc/interrupts").write_text(text)
    values = open_source("netdev:eth9", root).read().values
    assert values["rx_packets"] == 5000
    assert values.get("irq.total", 0) < 1 << 40
