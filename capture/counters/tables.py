"""What the counters of Linux mean: names in the kernel's order, units, and help texts.

Source: Linux ``include/uapi/linux/if_link.h`` (struct rtnl_link_stats64),
``Documentation/ABI/stable/sysfs-class-infiniband``,
``Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats``; InfiniBand Architecture Volume 1, PortCounters.
"""

from __future__ import annotations

NETDEV: dict[str, tuple[str, str]] = {  # in the order of the kernel's structure
    "rx_packets": ("packets", "Packets received without error"),
    "tx_packets": ("packets", "Packets sent"),
    "rx_bytes": ("bytes", "Bytes of the packets received"),
    "tx_bytes": ("bytes", "Bytes of the packets sent"),
    "rx_errors": ("packets", "Received packets with any error"),
    "tx_errors": ("packets", "Packets that could not be sent"),
    "rx_dropped": ("packets", "Received packets that were thrown away without an error in them"),
    "tx_dropped": ("packets", "Packets thrown away on their way out"),
    "multicast": ("packets", "Multicast packets received"),
    "collisions": ("events", "Collisions while sending"),
    "rx_length_errors": ("packets", "Received packets of a wrong length"),
    "rx_over_errors": ("packets", "Received packets that overran the receiver's buffer"),
    "rx_crc_errors": ("packets", "Received packets with a bad frame check sequence"),
    "rx_frame_errors": ("packets", "Received packets that do not end at a byte"),
    "rx_fifo_errors": ("packets", "Received packets lost to a full FIFO"),
    "rx_missed_errors": ("packets", "Packets the card had no host buffer for"),
    "tx_aborted_errors": ("packets", "Sendings given up"),
    "tx_carrier_errors": ("packets", "Sendings that lost the carrier"),
    "tx_fifo_errors": ("packets", "Sendings whose FIFO ran empty"),
    "tx_heartbeat_errors": ("packets", "Sendings without the transceiver's heartbeat"),
    "tx_window_errors": ("packets", "Sendings with a late collision"),
    "rx_compressed": ("packets", "Compressed packets received"),
    "tx_compressed": ("packets", "Compressed packets sent"),
    "rx_nohandler": ("packets", "Received packets that an inactive interface had no use for"),
    "rx_otherhost_dropped": ("packets", "Received packets addressed to another host"),
}

SOFTIRQS: dict[str, str] = {
    "NET_RX": "Software interrupts for received packets, of the whole machine",
    "NET_TX": "Software interrupts for packets sent, of the whole machine",
}

RDMA_PORT: dict[
    str, tuple[str, str]
] = {  # files in counters/; those of hw_counters/ are the driver's own
    "port_xmit_data": ("4 bytes", "Data sent, in units of 4 bytes"),
    "port_rcv_data": ("4 bytes", "Data received, in units of 4 bytes"),
    "port_xmit_packets": ("packets", "Packets sent"),
    "port_rcv_packets": ("packets", "Packets received"),
    "unicast_xmit_packets": ("packets", "Unicast packets sent"),
    "unicast_rcv_packets": ("packets", "Unicast packets received"),
    "multicast_xmit_packets": ("packets", "Multicast packets sent"),
    "multicast_rcv_packets": ("packets", "Multicast packets received"),
    "symbol_error": ("events", "Symbols that a lane could not decode"),
    "link_error_recovery": ("events", "Times the link mended itself"),
    "link_downed": ("events", "Times the link went down because it could not be mended"),
    "port_rcv_errors": ("packets", "Received packets with an error"),
    "port_rcv_remote_physical_errors": ("packets", "Received packets marked bad on their way"),
    "port_rcv_switch_relay_errors": ("packets", "Received packets a switch could not pass on"),
    "port_rcv_constraint_errors": ("packets", "Received packets refused by a filter"),
    "port_xmit_constraint_errors": ("packets", "Packets not sent because of a filter"),
    "port_xmit_discards": ("packets", "Packets not sent because the port was down or congested"),
    "port_xmit_wait": ("ticks", "Ticks in which data waited for credit"),
    "local_link_integrity_errors": ("events", "Times local physical errors passed the threshold"),
    "excessive_buffer_overrun_errors": (
        "events",
        "Times the receive buffers were overrun for long",
    ),
    "VL15_dropped": ("packets", "Management packets dropped for want of a buffer"),
}
