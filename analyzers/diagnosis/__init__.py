"""From comparisons to causes: one file a fault, and the ranking. docs/diagnosis.md says what each means."""
