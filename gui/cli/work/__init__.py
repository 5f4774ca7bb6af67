"""What the verbs do; the modules of `gui.cli` declare their options and load these once they are to run."""
