"""Rooms that give each trial a Postgres database of its own."""
