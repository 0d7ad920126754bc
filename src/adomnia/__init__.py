"""Ad Omnia: a differentially private statistical database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adomnia.errors import AdomniaError, Failure, Refusal, Unavailable
from adomnia.version import __version__

if TYPE_CHECKING:
    from adomnia import survey
    from adomnia.client.owner import connect_owner
    from adomnia.client.session import connect
    from adomnia.pricing.questions import Question
    from adomnia.releases.linking import link_releases
    from adomnia.session.askable import open_release
    from adomnia.session.curator import open_folder as open  # noqa: A004 - adomnia.open reads like what it is
    from adomnia.session.own_session import protect

__all__ = [
    "AdomniaError",
    "Failure",
    "Question",
    "Refusal",
    "Unavailable",
    "__version__",
    "connect",
    "connect_owner",
    "link_releases",
    "open",
    "open_release",
    "protect",
    "survey",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401, PLR0911 - whatever the name stands for, one by one
    # Loaded when first used, so that `import adomnia` and `adomnia --help` do not wait for the engine.
    if name == "Question":
        from adomnia.pricing.questions import Question

        return Question
    if name == "connect":
        from adomnia.client.session import connect

        return connect
    if name == "connect_owner":
        from adomnia.client.owner import connect_owner

        return connect_owner
    if name == "link_releases":
        from adomnia.releases.linking import link_releases

        return link_releases
    if name == "survey":
        import adomnia.survey

        return adomnia.survey
    if name == "open":
        from adomnia.session.curator import open_folder

        return open_folder
    if name == "open_release":
        from adomnia.session.askable import open_release

        return open_release
    if name == "protect":
        from adomnia.session.own_session import protect

        return protect
    raise AttributeError(f"module 'adomnia' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 - IPython is not ours to depend on
    """Called by `%load_ext adomnia`: cells that begin with %%private are questions."""
    from adomnia.session.notebook import register_magics

    register_magics(shell)
