"""Values read from what users write, by code alone, one module for each field."""
