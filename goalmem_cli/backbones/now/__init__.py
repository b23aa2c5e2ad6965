"""What holds now: what a question in the present asks for, what texts state of it, and what later replaced."""
