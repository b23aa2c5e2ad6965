"""The library: `goalmem_cli.open` returns a `Memory`, and the commands use it too."""
