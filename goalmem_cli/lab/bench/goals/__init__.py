"""Standing goals over made-up histories that grow: which changes are caught, and what that costs."""
