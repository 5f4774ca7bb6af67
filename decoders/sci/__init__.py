"""SCI packets on the back-side link of a link controller."""
