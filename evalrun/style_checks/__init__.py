"""The checks behind style rules: pure functions of a reply, named in one table."""
