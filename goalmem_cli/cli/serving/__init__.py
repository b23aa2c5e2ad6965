"""The memory for other programs: what the server of `goalmem mcp` offers, and how it speaks."""
