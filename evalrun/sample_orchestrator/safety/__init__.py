"""Safety, in two paths that never meet: the well-being of a user, and the report of another one."""
