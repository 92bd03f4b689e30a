"""Rooms that reach a model vendor, one small file each."""
