"""What is derived from the database and can come back from it: the text index, the vectors, and their keeping up."""
