"""What decoded tables are expected to hold: rules read from a file, judged with the first row that breaks them."""
