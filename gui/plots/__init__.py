"""Drawings as SVG text: an own small writer, axes, the time line and the throughput chart."""
