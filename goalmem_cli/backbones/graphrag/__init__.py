"""A graph of entities and relationships, and reports on its communities, after GraphRAG (arXiv 2404.16130)."""

NAME = "graphrag"
CHUNK, MENTION, RELATION, DESCRIPTION = "chunk", "mention", "relation", "description"
ENTITY, RELATIONSHIP, REPORT = "entity", "relationship", "report"
RELATES, MEMBER, PARENT = "relates", "member", "parent"
EXTRACT, GLEAN, DESCRIBE, REPORT_ON = "graphrag_extract", "graphrag_glean", "graphrag_describe", "graphrag_report"
STEPS = (EXTRACT, GLEAN, DESCRIBE, REPORT_ON)
