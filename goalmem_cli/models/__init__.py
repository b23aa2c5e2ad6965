"""Language models and embedders: llama.cpp in process, static and sentence-transformers vectors, and their names."""

import os

# llama.cpp's threads wait for one another at every step of a model, and GNU's OpenMP lets them spin for milliseconds
# each time. Where something else kept the cores busy, a question of three seconds took ten minutes. With a thousand
# rounds before they sleep it takes as long as ever on an idle machine, and 6.8 s instead of 8.7 s beside one busy
# program; without any it would take 5.2 s instead of 3.2 s on an idle one. OpenMP reads this when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
