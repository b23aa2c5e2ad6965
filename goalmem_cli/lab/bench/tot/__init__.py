"""Made-up questions about time, in the forms of Test of Time and Complex-TR.

`graphs` makes random temporal graphs and is the only module that knows networkx, `telling` puts them into words, and
`questions` asks of them and works the answers out in plain Python, each with its gold plan. The questions of
`arithmetic` carry their statements. `files` writes all.
"""
