"""Bring-up of a card in five stages, each resting on the one before."""
