"""Operations that change a store: adding, deriving, answers, forgetting, re-embedding, joining, removal; and export."""
