"""OpenAI-compatible servers as language models: their address, the HTTP around it, what is said and replied."""
