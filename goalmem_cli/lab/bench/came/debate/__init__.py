"""The made-up debates: their world, plan, words, state and questions."""
