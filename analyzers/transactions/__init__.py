"""Requests and answers that an ID ties together."""
