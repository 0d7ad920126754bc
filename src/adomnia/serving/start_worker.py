"""Starts a worker. What it imports stays for good: looking for garbage among that took a tenth of the start."""

import gc
import os


def start() -> None:
    """Import a worker without looking for garbage, and run it; what was imported is never looked through again."""
    # Questions are answered side by side, each with small matrices: NumPy's threads would only wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()
    from adomnia.serving import worker

    gc.freeze()
    gc.enable()
    worker.main()


if __name__ == "__main__":
    start()
