"""Guess which decoders fit a capture: by the names of its channels, its signals, and by trying."""
