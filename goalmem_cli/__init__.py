"""goalmem: questions answered from your own conversations, with a proof."""
