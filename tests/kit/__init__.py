"""What several tests share: reference distributions, bit sources with a seed, and the vectors.

It is imported before NumPy, whose matrices would be multiplied by a thread on every core. Parts of `make test` run one
more at once than there are cores, and such threads wait for each other by spinning: an inverse took 40 times as long.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
