"""llama.cpp in this process: tokenise prompts, cache what was evaluated, and constrain replies by a grammar."""
