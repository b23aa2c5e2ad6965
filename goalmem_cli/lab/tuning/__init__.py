"""Train goalmem's own adapter for the bundled model on goalmem's own steps: ``python -m goalmem_cli.lab.tuning``."""
