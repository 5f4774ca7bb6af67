"""Finding rows of a table by an expression: parsed with the place of every error, evaluated column by column."""
