"""Rooms that judge a case."""
