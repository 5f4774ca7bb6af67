"""Live counters for other programs: Prometheus' text format and JSON, over HTTP."""
