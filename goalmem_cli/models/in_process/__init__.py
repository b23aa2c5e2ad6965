"""llama.cpp in this process: prompts to tokens, evaluated once and kept, replies held to a grammar."""
