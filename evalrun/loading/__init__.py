"""From files people write to the values of the house; YAML, TOML and JSON Schema are known only here."""
