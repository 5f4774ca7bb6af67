"""What a processor inside a network card prints on its serial console: dumps of its ring, and the switch's counts."""
