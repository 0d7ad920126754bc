"""Ad Omnia: a differentially private statistical database."""

from adomnia.errors import AdomniaError, Failure, Refusal

__all__ = ["AdomniaError", "Failure", "Refusal", "__version__"]

__version__ = "0.1.0"
