"""A recorded sysfs and procfs: one network interface and one RDMA port on a PCI device, one interface on nothing."""

from __future__ import annotations

from pathlib import Path

PCI = "sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0"

_INTERRUPTS = """\
            CPU0       CPU1
   1:          9          0   IO-APIC   1-edge      i8042
  64:        100          5   PCI-MSIX-0000:03:00.0   0-edge      eth9-TxRx-0
  65:         20          0   PCI-MSIX-0000:03:00.0   1-edge      eth9-TxRx-1
  66:       7000          0   PCI-MSIX-0000:04:00.0   0-edge      other
 NMI:          3          4   Non-maskable interrupts
 ERR:          0
"""
_SOFTIRQS = """\
                    CPU0       CPU1
          HI:          1          0
      NET_TX:         30         12
      NET_RX:       1000        234
"""


def write(root: Path, path: str, text: str | int) -> None:
    """Write one file of the tree."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{text}\n")


def made_tree(root: Path) -> Path:
    """Write the tree below ``root`` and return it."""
    write(root, f"{PCI}/uevent", "DRIVER=made")
    for line in (64, 65):
        write(root, f"{PCI}/msi_irqs/{line}", "msix")
    write(root, f"{PCI}/aer_dev_correctable", "RxErr 2\nBadTLP 7\nTOTAL_ERR_COR 9")
    write(root, f"{PCI}/aer_dev_fatal", "Undefined 0\nTLP 1\nTOTAL_ERR_FATAL 1")
    write(root, "proc/interrupts", _INTERRUPTS)
    write(root, "proc/softirqs", _SOFTIRQS)
    _interface(root, f"{PCI}/net", "eth9", rx_packets=5000, rx_crc_errors=3, speed=25000)
    _interface(root, "sys/devices/virtual/net", "tun0", rx_packets=0, rx_crc_errors=0, speed=-1)
    (root / "sys/class/net/eth9/device").symlink_to("../..")
    _port(root)
    return root


def _interface(
    root: Path, parent: str, name: str, *, rx_packets: int, rx_crc_errors: int, speed: int
) -> None:
    folder = f"{parent}/{name}"
    write(root, f"{folder}/statistics/rx_packets", rx_packets)
    write(root, f"{folder}/statistics/tx_packets", 2)
    write(root, f"{folder}/statistics/rx_crc_errors", rx_crc_errors)
    write(root, f"{folder}/statistics/tx_bytes", "not a number")
    write(root, f"{folder}/carrier_changes", 4)
    write(root, f"{folder}/operstate", "up")
    write(root, f"{folder}/speed", speed)
    write(root, f"{folder}/duplex", "full")
    (root / "sys/class/net").mkdir(parents=True, exist_ok=True)
    (root / "sys/class/net" / name).symlink_to(root / folder)


def _port(root: Path) -> None:
    device = f"{PCI}/infiniband/mlx5_0"
    port = f"{device}/ports/1"
    write(root, f"{port}/counters/port_rcv_data", 1 << 40)
    write(root, f"{port}/counters/symbol_error", 6)
    write(root, f"{port}/hw_counters/out_of_sequence", 11)
    write(root, f"{port}/hw_counters/lifespan", 10)
    write(root, f"{port}/state", "4: ACTIVE")
    write(root, f"{port}/phys_state", "5: LinkUp")
    write(root, f"{port}/rate", "100 Gb/sec (2X HDR)")
    write(root, f"{port}/link_layer", "Ethernet")
    (root / device / "device").symlink_to("../..")
    (root / "sys/class/infiniband").mkdir(parents=True, exist_ok=True)
    (root / "sys/class/infiniband/mlx5_0").symlink_to(root / device)
