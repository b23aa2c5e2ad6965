"""Generated trajectories in CAME-Bench's layout (STITCH section 3): a closed world with exact answers.

No model is used, and the same seed gives the same bytes. Turns come from a symbolic storyboard. A domain has its tables
of words, its goals and its questions (`travel`). `trajectories` combines turns and questions.
"""
