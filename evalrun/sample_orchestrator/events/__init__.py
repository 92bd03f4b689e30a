"""What Ori says unasked, one module for each event; see `event.py` for what an event is."""
