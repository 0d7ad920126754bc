"""Randomness after the noise: simulations and restarts that work on released numbers alone.

It hides nobody, so it need not be secret. It is drawn from the released numbers themselves: whoever has these gets the
same simulation again, and a replay the same answer.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from adomnia.privacy.scans import Integers

Generator: TypeAlias = np.random.Generator

_KEY_BYTES = 16  # of Philox, a counter-based generator whose streams do not depend on the platform


def follow(released: Iterable[Integers], purpose: str) -> Generator:
    """A generator that follows from released integers and from what it is for.

    >>> import numpy as np
    >>> noisy = np.array([3, -1])
    >>> float(follow([noisy], "restarts").normal()) == float(follow([noisy], "restarts").normal())
    True
    """
    digest = sha256(purpose.encode())
    for values in released:
        digest.update(f"{values.shape} {','.join(map(str, values.ravel().tolist()))};".encode())
    key = int.from_bytes(digest.digest()[:_KEY_BYTES], "big")
    return np.random.Generator(np.random.Philox(key=key))
