"""The doors: what a room must offer, and the values that cross.

A room (adapter, provider, judge, reporter, store, database) satisfies one Protocol here and is
reached by name only, through `plugins.py`. Beside each Protocol stands the shape of its factory.
"""
