"""Made-up histories of facts that change, what a model should decide about them, and what backbones find of them."""
