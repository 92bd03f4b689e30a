"""Rooms that keep runs."""
