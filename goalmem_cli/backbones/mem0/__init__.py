"""Short statements that a model adds, updates and deletes as a conversation grows, after Mem0 (arXiv 2504.19413)."""

NAME = "mem0"
MEMORY, FACT, SUMMARY = "memory", "fact", "summary"
FACTS, DECIDE, SUM_UP = "mem0_facts", "mem0_decide", "mem0_summary"
STEPS = (FACTS, DECIDE, SUM_UP)
