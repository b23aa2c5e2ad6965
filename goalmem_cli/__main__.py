"""`python -m goalmem_cli` is `goalmem`."""

from goalmem_cli.main import main

if __name__ == "__main__":
    main()
