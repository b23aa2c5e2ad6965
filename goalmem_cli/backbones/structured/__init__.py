"""Code that structured backbones share: parts, indexing, similarity, and retrieval of derived units with turns."""
