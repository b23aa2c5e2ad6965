"""What people see of runs and their summaries: pure functions of frozen data, in Rich or as a page."""
