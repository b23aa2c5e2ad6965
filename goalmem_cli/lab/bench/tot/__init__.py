"""Made-up questions about time, in the forms of Test of Time and Complex-TR.

`graphs` makes random graphs and is the only module that knows networkx, `facts` puts times to their edges, `questions`
and `sets` ask of them and work the answers out in plain Python, each with its gold plan. The questions of `arithmetic`
carry their statements. `files` writes all.
"""
