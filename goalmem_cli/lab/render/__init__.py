"""How runs and their summaries are shown: pure functions of frozen data, in Rich or as a page."""
