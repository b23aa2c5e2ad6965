"""Made-up trajectories in CAME-Bench's layout (STITCH section 3): a closed world, a symbolic storyboard, exact answers.

No model takes part, and the same seed gives the same bytes. `trajectories.py` puts together what a domain gives:
its world, the moves of its storyboard, the words for them, and the questions that follow from their state.
"""
