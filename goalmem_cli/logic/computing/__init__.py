"""Answers that are computed: expressions over rows of bindings, read, checked, evaluated and said in words.

How many, how long between, which came first, what both have in common: no turn says these, but they follow from what
turns say. A plan names the expression, the engine computes it, so that no model counts. Pure: nothing here asks a model
or knows a clock; the time of asking is an argument.
"""
