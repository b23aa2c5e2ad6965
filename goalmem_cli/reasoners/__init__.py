"""Ways to answer a question from memory, each behind the `Reasoner` seam."""
