"""A graph of events with four kinds of links, walked according to the question, after MAGMA (arXiv 2601.03236)."""

NAME = "magma"
EVENT, ENTITY, EXPLANATION, READ = "event", "entity", "explanation", "read"
TEMPORAL, SEMANTIC, CAUSAL, MENTIONS = "temporal", "semantic", "causal", "mentions"
LINKS, INTENT = "magma_links", "magma_intent"
STEPS = (LINKS, INTENT)
