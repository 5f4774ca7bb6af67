"""What can be opened: a capture, samples of a logic analyzer, a live card; each becomes tables and tracks."""
