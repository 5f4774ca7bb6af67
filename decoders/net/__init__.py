"""Network frames: addresses, types and verdicts, whatever they were captured on."""
