"""Two captures, of a good run and a bad one, compared."""
