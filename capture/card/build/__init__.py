"""What is generated from an elaborated card: one file an output, each a function from the card to a text."""
