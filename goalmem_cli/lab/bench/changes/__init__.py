"""Generated histories of changing facts, the right decisions about them, and what backbones find."""
