"""Ori in the terminal: a person talks to the production orchestrator, with a model or with safe wording only."""
