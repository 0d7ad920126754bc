"""Starts a worker. What it imports stays for good: looking for garbage among that took a tenth of the start."""

import gc


def start() -> None:
    """Import a worker without looking for garbage, and run it; what was imported is never looked through again."""
    gc.disable()
    from adomnia.serving import worker

    gc.freeze()
    gc.enable()
    worker.main()


if __name__ == "__main__":
    start()
