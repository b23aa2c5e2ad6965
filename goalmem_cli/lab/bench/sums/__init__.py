"""Made-up conversations whose questions are answered by counting, adding, ordering and comparing, with exact answers.

Who bought what when for how much, who was in which town, and who took which course, over months, among lookalikes: the
other speaker's purchases, a sister's, and what somebody only wants. `story` makes up what happened and what is said of
it, `questions` asks of it and works the answers out in plain Python, `files` writes both in the corpus form, and
`replay` holds the engine's calculation to them.
"""
