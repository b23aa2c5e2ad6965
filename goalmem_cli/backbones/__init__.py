"""Ways to organise and retrieve memory, each implementing `ports.Backbone` over the store."""
