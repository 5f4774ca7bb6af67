"""Decoded recordings in, findings out: what went wrong, where, when, how sure, and on what evidence."""
