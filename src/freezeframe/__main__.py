"""``python -m freezeframe``."""

from freezeframe.gui.cli.main import main

main()
