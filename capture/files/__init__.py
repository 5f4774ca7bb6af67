"""File formats of samples, and their reduction to edges."""
