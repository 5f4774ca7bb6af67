"""Decoders of buses that carry many bits at once."""
