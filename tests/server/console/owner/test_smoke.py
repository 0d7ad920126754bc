import pytest
@pytest.mark.parametrize("path", ["/owner","/owner/ledger","/owner/budgets","/owner/people"])
def test_page(shared_house, path):
    shared_house.query("alice"); shared_house.query("bob", sql="SELECT name FROM people")
    r = shared_house.ask("olga","GET",path)
    print(r.text[:3000])
    assert r.status_code==200
