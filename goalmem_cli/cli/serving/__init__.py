"""The memory for other programs: the server of `goalmem mcp`."""
