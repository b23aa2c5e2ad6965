"""Rules that proved themselves: a plan that settled a question is tried first for questions of the same form."""
