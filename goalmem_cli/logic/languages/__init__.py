"""Times and numbers said in other languages than English: found by tables of words, and said in English."""
