"""What structured backbones have in common: parts, indexing, what is alike, and turns beside what was derived."""
