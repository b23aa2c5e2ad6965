"""Computed answers: parse, check and evaluate expressions over rows of bindings, and say the result in words.

How many, how long between, which came first, what both have in common: no turn states these, but they follow from what
turns state. The plan names the expression and the engine computes it, so no model has to count. Pure code: no module
here calls a model or reads a clock; the time of asking is an argument.
"""
