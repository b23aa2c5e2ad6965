"""What stands around the words of a time, and decides which days they mean."""
