"""Languages: which one a text is in, what it is called, and a small table of each one's question words."""
