"""Made-up trajectories in CAME-Bench's layout (STITCH section 3): a closed world, a symbolic storyboard, exact answers.

No model takes part, and the same seed gives the same bytes. A domain gives its tables of words (`travel_words`), and
how its goals are pursued and what is asked of them (`travel`); `trajectories` puts the turns and questions together.
"""
