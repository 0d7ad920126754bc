"""Secrets are drawn, shown once, and recognised by their digest."""

from __future__ import annotations

from hashlib import sha256

import pytest

from adomnia.api.access.credentials import CredentialKind, derive_csrf, draw, parse


@pytest.mark.parametrize("kind", CredentialKind)
def test_a_secret_matches_what_was_stored_of_it(kind):
    text, credential = draw(kind)
    assert text.startswith(f"{kind}_")
    assert parse(kind, text) == credential
    assert parse(kind, text).matches(credential.digest)
    assert credential.digest == sha256(text.split("_")[2].encode()).digest()


def test_no_two_secrets_are_alike():
    drawn = [draw(CredentialKind.TOKEN) for _ in range(100)]
    assert len({text for text, _ in drawn}) == len({credential.id for _, credential in drawn}) == 100


def test_another_secret_under_the_same_id_matches_nothing():
    text, credential = draw(CredentialKind.TOKEN)
    other = text[:-1] + ("0" if text[-1] != "0" else "1")
    assert parse(CredentialKind.TOKEN, other).id == credential.id
    assert not parse(CredentialKind.TOKEN, other).matches(credential.digest)


@pytest.mark.parametrize("other", [CredentialKind.BROWSER_SESSION, CredentialKind.LINK])
def test_a_secret_of_one_kind_is_not_one_of_another(other):
    assert parse(other, draw(CredentialKind.TOKEN)[0]) is None


@pytest.mark.parametrize(
    "text", ["", "ao", "ao__", "ao_0_1", "é" * 84, "\ud800", "ao_" + "0" * 16 + "_" + "0" * 64 + "\n", "x" * 10**6]
)
def test_what_no_draw_can_have_made_is_no_credential(text):
    assert parse(CredentialKind.TOKEN, text) is None


def test_a_credential_does_not_show_its_digest():
    text, credential = draw(CredentialKind.BROWSER_SESSION)
    assert repr(credential) == f"Credential(id='{credential.id}')"
    assert derive_csrf(text) == derive_csrf(text) != derive_csrf(draw(CredentialKind.BROWSER_SESSION)[0])
    assert derive_csrf(text) not in {text, credential.digest.hex(), text.split("_")[2]}
