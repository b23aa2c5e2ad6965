"""The database: connections to DuckDB, the migrations, and all SQL statements."""
