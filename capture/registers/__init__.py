"""Register map and wire layouts: generated tables, and the two small types that they are made of."""
