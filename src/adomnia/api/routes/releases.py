"""Routes of releases: make one, list them, and take one's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request  # noqa: TC002 - FastAPI reads the annotations
from starlette.responses import Response  # noqa: TC002 - FastAPI reads the annotations

from adomnia.api.actions.releases import list_releases, open_release, pack_archive
from adomnia.api.free_work import reply_free
from adomnia.api.replies import Pieces, encode_json
from adomnia.api.requests import services_of, visitor_of
from adomnia.api.routes.questions import QuestionJob
from adomnia.releases.store import ReleaseEntry
from adomnia.wire.releases import ZIP, AskRelease, release_record

if TYPE_CHECKING:
    from adomnia.api.requests import Visit


async def make(dataset: str, asked: AskRelease, request: Request) -> Response:
    """Make a release for everybody, or buy one for oneself; the same under the same name is free."""
    services, visitor = services_of(request), visitor_of(request)

    def ask(visit: Visit) -> Pieces:
        made = asked.put_to(visit.session)
        services.metrics.count_question("answered")
        return [encode_json(release_record(ReleaseEntry.of(made)))]

    return await QuestionJob(services, visitor, dataset, f"release:{asked.name}").run(request, ask)


async def list_all(dataset: str, request: Request) -> Response:
    """The releases of everybody, and one's own."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json({"releases": [release_record(each) for each in list_releases(visit)]})]

    return await reply_free(request, dataset, ask, None)


async def describe(dataset: str, release: str, request: Request) -> Response:
    """What is told of one release."""

    def ask(visit: Visit) -> Pieces:
        return [encode_json(release_record(ReleaseEntry.of(open_release(visit, release))))]

    return await reply_free(request, dataset, ask, None)


async def download(dataset: str, release: str, request: Request) -> Response:
    """The files of a release as a ZIP: Parquet, CSV, release.json and README."""
    return await reply_free(request, dataset, lambda visit: [pack_archive(open_release(visit, release))], None, ZIP)
