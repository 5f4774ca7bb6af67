"""From a capture of two cards to the numbers of a profile of stages: service times, rooms, and what arrived when."""
