"""Generated conversations with questions that need counting, adding, ordering and comparing, with exact answers.

Over months, two people buy things at prices, visit towns and take courses. Distractors are the other speaker's
purchases, a sister's, and wishes. `story` generates the events and the turns, `questions` asks and computes the answers
in plain Python, `files` writes both in the corpus form, and `replay` compares the engine's calculations with them.
"""
