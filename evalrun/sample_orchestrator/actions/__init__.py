"""What a user can ask for at any time, whatever the stage."""
