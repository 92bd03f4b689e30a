"""Rooms that connect a target."""
