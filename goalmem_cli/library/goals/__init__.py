"""Kept goals: questions whose answers are kept true while the memory changes."""
