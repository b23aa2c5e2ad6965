"""What an answer or a retrieval is worth: pure functions of what was said and what is right."""
