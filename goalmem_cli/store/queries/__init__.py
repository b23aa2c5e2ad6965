"""What only reads: ranking and looking up, summaries, the episodic graph, and verification."""
