"""Language models and embedders: find them by name, load them and run them in process or through a server."""

import os

# llama.cpp's threads wait for one another at every step, and GNU OpenMP lets them spin for milliseconds each time. On
# busy cores, a question of three seconds then took ten minutes. Limiting the spin to a thousand rounds costs nothing on
# an idle machine. Beside one busy program it takes 6.8 s instead of 8.7 s. Without any spin, an idle machine would take
# 5.2 s instead of 3.2 s. OpenMP reads the variable when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
