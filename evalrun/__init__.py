"""evalrun: a behaviour contract in plain files becomes a verdict a team lets block a merge."""

__version__ = "0.1.0"
