"""What a source of packets is about, in bounded memory: its connections, and what happened on them over time."""
