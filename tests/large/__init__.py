"""What the larger bundled models must do: `python -m pytest -m large`, where `.[bundled]` is installed."""
