"""A PCI-SCI bridge down to its cycles: what its back-side link carries, and what its recorder would keep."""
