"""A card is a file: what it may say, the reading of it, and the one elaboration (docs/card-file.md)."""
