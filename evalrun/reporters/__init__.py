"""Rooms that show a run; the only ones that write to a terminal."""
