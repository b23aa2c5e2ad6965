"""What changes a store: adding, deriving, answers, forgetting, re-embedding, restoring, removal; and exporting."""
