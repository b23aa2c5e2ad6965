"""Facts between entities with valid times and the times when these were known, after Graphiti (arXiv 2501.13956)."""

NAME = "graphiti"
MENTION, FACT, ENTITY, COMMUNITY = "mention", "fact", "entity", "community"
SUBJECT, OBJECT, INVALIDATES, SAME_AS, MEMBER = "subject", "object", "invalidates", "same_as", "member"
ENTITIES, FACTS, DATES = "graphiti_entities", "graphiti_facts", "graphiti_dates"
RESOLVE, DECIDE = "graphiti_resolve", "graphiti_decide"
MERGE, TITLE = "graphiti_merge", "graphiti_title"
STEPS = (ENTITIES, FACTS, DATES, RESOLVE, DECIDE, MERGE, TITLE)
