"""The truth: connections to DuckDB, the migrations, and every SQL statement over the tables."""
