"""Generated questions about time, in the forms of Test of Time and Complex-TR.

`graphs` generates random temporal graphs and is the only module that uses networkx. `telling` puts them into words.
`questions` asks about them and computes the answers in plain Python, with gold plans. `arithmetic` generates questions
that contain their statements. `files` writes everything.
"""
