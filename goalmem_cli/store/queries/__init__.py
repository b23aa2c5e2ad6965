"""Operations that only read: ranking and lookups, summaries, the episodic graph, and verification."""
