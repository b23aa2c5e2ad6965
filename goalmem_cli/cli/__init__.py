"""The command line: one file per command. Each parses, calls and prints; nothing here decides."""
