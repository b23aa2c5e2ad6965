"""What all readers share: sources, detection's first look, JSON with its places, times, and drafts of conversations."""
