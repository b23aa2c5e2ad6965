"""The files that models come in: GGUF headers, LoRA adapters, and the bundled weights repacked."""
