"""Language models and embedders: llama.cpp in process, static and sentence-transformers vectors, and their names."""

import os

# llama.cpp's threads wait for one another at every step of a model. By default they spin, for milliseconds each time:
# where something else keeps a core busy, a question of seconds took ten minutes. OpenMP reads this when it is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
