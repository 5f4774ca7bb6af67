"""The parts of the window beside the time line; each shows something and computes nothing."""
