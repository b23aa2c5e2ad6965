"""Mem0 with a graph of entities and triples beside its memories (arXiv 2504.19413, section 2.2)."""

from goalmem_cli.backbones import mem0

NAME = "mem0-graph"
NAMED, RELATION, TRIPLE = "named", "relation", "triple"
ENTITIES, RELATIONS, CONFLICTS = "mem0_entities", "mem0_relations", "mem0_conflicts"
STEPS = (*mem0.STEPS, ENTITIES, RELATIONS, CONFLICTS)
