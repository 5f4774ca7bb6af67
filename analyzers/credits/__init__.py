"""The account of every flow's credits: its ledger, its history, and the analysis ``credits``."""
