"""Traces of the computer a card is in, on the time line of the card."""
