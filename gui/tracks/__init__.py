"""Tracks: what every picture of time is drawn from, made from recordings and analyses. Nothing here imports Qt."""
