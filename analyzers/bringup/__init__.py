"""Bring-up of a card in four stages, each resting on the one before."""
