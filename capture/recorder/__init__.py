"""A recorder's state, its control, the verified pull of what it holds, and the guard that waits."""
