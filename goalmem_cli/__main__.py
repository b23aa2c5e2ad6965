"""Run `goalmem` as `python -m goalmem_cli`."""

from goalmem_cli.main import main

if __name__ == "__main__":
    main()
