"""Faces: what people see of Freezeframe. Imports any other room; no other room imports it."""
