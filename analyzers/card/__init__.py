"""What went wrong on any card, from its file, its packets and its counters alone."""
