"""What a device remembers of a survey: its token and its randomised answer, and never the true one."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adomnia.errors import Unavailable
from adomnia.survey.survey import TOKEN, draw_token

__all__ = ["DeviceMemory", "KeptReport"]

_FOLDER = "adomnia/surveys"


@dataclass(frozen=True)
class KeptReport:
    """A randomised answer, the token that it is sent under, and the digest of the survey that it answers."""

    token: str
    report: tuple[int, ...]
    survey: str

    def __post_init__(self) -> None:
        whole = all(type(part) is int for part in self.report)
        if not (TOKEN.fullmatch(self.token) and whole and isinstance(self.survey, str)):
            raise ValueError("KeptReport must have a token, integers and a survey.")


@dataclass(frozen=True)
class DeviceMemory:
    """A folder of the user with one small file for each survey, which is written once."""

    folder: Path

    @classmethod
    def of_user(cls) -> DeviceMemory:
        """Where this user's programs keep what they must not lose."""
        home = os.environ.get("XDG_DATA_HOME")
        return cls((Path(home) if home else Path.home() / ".local" / "share") / _FOLDER)

    def recall(self, survey_id: str) -> KeptReport | None:
        """What was reported before, if anything was."""
        path = self._path(survey_id)
        try:
            written = json.loads(path.read_text(encoding="utf-8"))
            kept = KeptReport(written["token"], tuple(written["report"]), written["survey"])
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._trouble("cannot be read, and the survey may have been answered") from error
        except (ValueError, LookupError, TypeError):
            raise self._trouble("is damaged, and the survey would be answered a second time") from None
        return kept

    def keep(self, survey_id: str, kept: KeptReport) -> KeptReport:
        """Write a report before it is sent; if another process was first, that one's is the report."""
        path = self._path(survey_id)
        draft = path.with_name(f".{survey_id}-{draw_token()}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(draft, json.dumps({"token": kept.token, "report": kept.report, "survey": kept.survey}))
            with suppress(FileExistsError):
                os.link(draft, path)
            draft.unlink()
            _sync(self.folder)
        except OSError as error:
            raise self._trouble("cannot be written, and an answer that is forgotten could be given twice") from error
        return self.recall(survey_id) or kept

    def _path(self, survey_id: str) -> Path:
        if not TOKEN.fullmatch(survey_id):
            raise ValueError("DeviceMemory survey_id must be 32 hexadecimal digits.")
        return self.folder / f"{survey_id}.json"

    def _trouble(self, why: str) -> Unavailable:
        return Unavailable("The memory of answered surveys", why, f"look at the folder {self.folder}")


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
