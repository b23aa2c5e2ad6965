"""The commands `goalmem eval`, `report` and `bench`: each parses, calls and prints; nothing here decides."""
