"""The made-up journeys: their world, plan, words, state and questions."""
