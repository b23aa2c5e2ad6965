"""OpenAI-compatible servers as language models: addresses, HTTP, requests and replies."""
