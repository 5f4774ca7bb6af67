"""One module for each kind of file that is made from freezeframe.rdl and formats.toml."""
