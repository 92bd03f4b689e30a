"""Ori, a matchmaking concierge that lives in a chat: the sample product that evalrun's own scenarios test.

A state machine in code decides the stage, what is safe and what may be said; a model only
phrases. Nothing here knows evalrun, except `adapter.py`.
"""
