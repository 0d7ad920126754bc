"""Where users are is what the catalog says of the ledger."""

from __future__ import annotations

import pytest

from adomnia.api.access import ACCESS, Role, find_shared, open_access
from adomnia.errors import Refusal

DATASET = '[dataset]\nname = "hospital"\n'


@pytest.fixture
def write(tmp_path):
    return (tmp_path / "catalog.toml").write_text


@pytest.mark.parametrize("text", [None, "", DATASET, f"{DATASET}[ledger]\n"])
def test_without_a_url_they_are_beside_the_ledger(tmp_path, write, text):
    if text is not None:
        write(text)
    with open_access(tmp_path) as access:
        assert access.shared is None
        assert not access.may_wait()
    assert (tmp_path / ".adomnia" / ACCESS).is_file()


def test_with_one_they_are_in_that_database(tmp_path, write, shared_url):
    write(f'{DATASET}[ledger]\nurl = "{shared_url}"\n')
    with open_access(tmp_path) as here, open_access(tmp_path) as there:
        assert here.may_wait()
        here.add_user("olga", Role.OWNER)
        assert [user.name for user in there.users()] == ["olga"]
    assert not (tmp_path / ".adomnia").exists()


@pytest.mark.parametrize("url", ["mysql://db/x", "postgresql://u:secret@db/x", "postgresql://db/x?password=secret"])
def test_a_url_that_is_none_or_has_a_password_is_refused_and_not_repeated(tmp_path, write, url):
    write(f'{DATASET}[ledger]\nurl = "{url}"\n')
    with pytest.raises(Refusal) as refused:
        find_shared(tmp_path)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("text", ["nonsense = [", "ledger = 3\n", 'dataset = "x"\n'])
def test_a_catalog_that_cannot_be_read_does_not_say_where_users_are(tmp_path, write, text):
    write(text)
    with pytest.raises(Refusal, match="nobody knows where its users are"):
        open_access(tmp_path)
