"""One reader a transcript format."""
