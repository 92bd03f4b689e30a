"""The street door: one file per command group; Typer is known only here."""
