"""Places that only Spark reads: tables of its catalog, and folders in storage that a cluster sees."""

import re

SPARK_CATALOG = "spark://"
_SCHEMES = ("s3", "s3a", "gs", "abfs", "abfss", "wasbs", "hdfs", "dbfs")
# Without a password, a query or a fragment: whoever reads the catalog reads it.
_STORAGE = re.compile(rf"({'|'.join(_SCHEMES)})://[A-Za-z0-9._@-]*(:[0-9]{{1,5}})?(/[^?#\s\\*\[\]{{}}]*)?")


def is_storage(place: str) -> bool:
    """Whether a place is a folder in storage.

    >>> is_storage("s3a://bucket/visits"), is_storage("s3a://key:secret@bucket/visits"), is_storage("visits")
    (True, False, False)
    """
    return _STORAGE.fullmatch(place) is not None


def is_in_spark(source: str) -> bool:
    """Whether only Spark can read a source."""
    return source == SPARK_CATALOG or is_storage(source)
