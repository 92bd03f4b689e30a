"""What the command line asks for: no Typer, no Rich."""
