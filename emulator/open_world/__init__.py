"""Faults that are in no list: what a diagnosis meets outside its own world."""
