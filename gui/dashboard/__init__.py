"""The terminal dashboard: live counters of several sources. It lays out what ``capture.counters`` has worked out."""
