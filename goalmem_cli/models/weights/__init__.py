"""Model files: GGUF headers, LoRA adapters, and joining and repacking the bundled weights."""
