"""What is said of a machine that has too little room for an index; no cause is named, whose words may quote a row."""

from adomnia.engines.limits import NO_MEMORY
from adomnia.errors import Unavailable


def disk_trouble() -> Unavailable:
    """The disk is full, or closed to this process."""
    fix = "free space there, or let this process write it"
    return Unavailable("The index", "cannot be written to the disk of its folder", fix)


def memory_trouble() -> Unavailable:
    """What is being built needs more than memory and disk have."""
    fix = "give it more: `--memory` of the server, `limits` of adomnia.open, or room in the folder where it spills"
    return Unavailable("The index", "fits neither into memory nor into the room on disk", fix, NO_MEMORY)
