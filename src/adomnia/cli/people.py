"""`adomnia user` and `adomnia token`: who may sign in to the server, and what their programs sign in with."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from adomnia.cli.options import Folder, Format, Output
from adomnia.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adomnia.api.access import Access, Role, Token

ADD_EXAMPLES = """Examples

adomnia user add examples/hospital alice --role analyst

adomnia user add examples/hospital carol --role auditor --format json
"""
CREATE_EXAMPLES = """Examples

adomnia token create examples/hospital alice --label laptop --days 90

adomnia token create examples/hospital alice --label "nightly report" > token.txt
"""
Name: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="The user.")]
RoleName: TypeAlias = Annotated[str, typer.Argument(metavar="ROLE", help="owner, analyst or auditor.")]

user = typer.Typer(no_args_is_help=True, help="Say who may sign in to the server, and as what.")
token = typer.Typer(no_args_is_help=True, help="Make, list and revoke what programs sign in with.")


@user.command("add", epilog=ADD_EXAMPLES)
def add_user(
    folder: Folder,
    name: Name,
    role: Annotated[str, typer.Option(metavar="ROLE", help="owner, analyst or auditor.")],
    form: Output = Format.TABLE,
) -> None:
    """Add somebody, and print the link by which they choose a password: once, and within 24 hours."""
    chosen = _role(role)
    if chosen == "analyst":
        check_analyst(folder, name)
    with _access(folder) as access:
        access.add_user(name, chosen)
        _print_link(access, name, form)


@user.command("list")
def list_users(folder: Folder, form: Output = Format.TABLE) -> None:
    """List who may sign in."""
    from adomnia.cli import pages

    with _access(folder) as access:
        found = access.users()
    if form is Format.JSON:
        pages.show_json([{**asdict(each), "created": _iso_time(each.created)} for each in found])
        return
    table = pages.table(("Name", "Role", "Password", "Since (UTC)"))
    for each in found:
        table.add_row(each.name, each.role, "chosen" if each.has_password else "not yet", _format_time(each.created))
    pages.show(table)


@user.command("role")
def set_role(folder: Folder, name: Name, role: RoleName) -> None:
    """Change what somebody may do, at once."""
    chosen = _role(role)
    if chosen == "analyst":
        check_analyst(folder, name)
    with _access(folder) as access:
        access.set_role(name, chosen)
    typer.echo(f"{name} is {chosen} from now on.")


@user.command("remove")
def remove_user(folder: Folder, name: Name) -> None:
    """Remove somebody, and end their tokens, visits and links; what they spent stays spent."""
    with _access(folder) as access:
        access.remove_user(name)
    typer.echo(f"{name} was removed, and their tokens, visits and links have ended.")


@user.command("link")
def make_link(folder: Folder, name: Name, form: Output = Format.TABLE) -> None:
    """Print a fresh link for somebody who has no password yet or forgot it; an older link ends."""
    with _access(folder) as access:
        _print_link(access, name, form)


@token.command("create", epilog=CREATE_EXAMPLES)
def create_token(
    folder: Folder,
    name: Name,
    label: Annotated[str, typer.Option(metavar="TEXT", help="What it is for, so that you recognise it later.")],
    days: Annotated[int | None, typer.Option(metavar="NUMBER", help="Days until it expires; default: never.")] = None,
) -> None:
    """Make a token. Its secret is printed this once, alone on standard output."""
    with _access(folder) as access:
        secret, made = access.create_token(name, label, days)
    typer.echo(secret)
    until = "until it is revoked" if made.expires is None else f"until {_format_time(made.expires)} UTC"
    typer.echo(f"Token {made.id} of {name}, valid {until}. Keep it like a password: it is not shown again.", err=True)


@token.command("list")
def list_tokens(
    folder: Folder,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Whose tokens; default: everybody's.")] = None,
    form: Output = Format.TABLE,
) -> None:
    """List tokens, without their secrets."""
    from adomnia.cli import pages

    with _access(folder) as access:
        found = access.tokens(name)
    if form is Format.JSON:
        pages.show_json([_record(each) for each in found])
        return
    table = pages.table(("Id", "User", "Label", "Since (UTC)", "Until (UTC)", "State"))
    for each in found:
        until = "no end" if each.expires is None else _format_time(each.expires)
        table.add_row(each.id, each.user, each.label, _format_time(each.created), until, each.state)
    pages.show(table)


@token.command("revoke")
def revoke_token(folder: Folder, token_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]) -> None:
    """End a token for good; a running server refuses it from the next request on."""
    with _access(folder) as access:
        access.revoke(token_id)
    typer.echo(f"Token {token_id} is revoked.")


@contextmanager
def _access(folder: Path) -> Iterator[Access]:
    """The users of a dataset; in a folder without one nothing is written."""
    from adomnia.api.access import open_access
    from adomnia.catalog.read import FILE

    if not (folder / FILE).is_file():
        raise Refusal(
            f"Folder {folder}", f"has no {FILE}", "name the folder of a dataset, or make one with adomnia init"
        )
    with open_access(folder) as access:
        yield access


def _role(written: str) -> Role:
    from adomnia.api.access import Role

    try:
        return Role(written)
    except ValueError:
        raise Refusal(f"Role {written!r}", "does not exist", f"name one of {', '.join(Role)}") from None


def check_analyst(folder: Path, name: str) -> None:
    """Refuse an analyst to whom the catalog gives no budget: they could ask nothing."""
    import json

    from adomnia.session.curator import read_catalog

    if read_catalog(folder).analyst(name) is None:
        key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
        fix = f"add [analysts.{key}] with a budget to catalog.toml, or check the spelling"
        raise Refusal(f"Analyst {name!r}", "is not in the catalog", fix, code="unknown_analyst")


def _print_link(access: Access, name: str, form: Format) -> None:
    from adomnia.cli import pages

    code, role = access.create_link(name), access.user(name).role
    path = f"/sign-in?code={code}"
    if form is Format.JSON:
        pages.show_json({"name": name, "role": role, "path": path, "code": code})
    else:
        typer.echo(f"{name} may sign in as {role}. Give them this link, behind the address of the server:\n")
        typer.echo(f"  {path}\n\nIt opens once, within 24 hours, to choose a password. A newer link replaces it.")


def _record(each: Token) -> dict[str, object]:
    expires = None if each.expires is None else _iso_time(each.expires)
    return {**asdict(each), "created": _iso_time(each.created), "expires": expires}


def _iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _format_time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
