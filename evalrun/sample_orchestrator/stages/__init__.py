"""The stages of the funnel, one module each; see `stage.py` for what a stage is."""
