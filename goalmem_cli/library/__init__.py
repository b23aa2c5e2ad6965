"""The library under the command: `goalmem_cli.open` gives a `Memory`, of which the commands are clients."""
