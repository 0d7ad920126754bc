"""The contribution index: everybody's rows, ranked once, so that a cap is a comparison; docs/proofs/index.md."""

from adomnia.engines.index.build import STEPS, Target, build_rows, build_table
from adomnia.engines.index.people import Links, Run
from adomnia.engines.index.public import build_public
from adomnia.engines.index.source import Source

__all__ = ["STEPS", "Links", "Run", "Source", "Target", "build_public", "build_rows", "build_table"]
