from __future__ import annotations

from adomnia.server.pages.rendering import read_stylesheet, render_page

SCRIPT = "<script>alert(\"x\" + 'y')</script>&amp; $name ${x}"


def test_whatever_is_put_into_a_page_is_escaped():
    body = render_page("problem", title=SCRIPT, says=SCRIPT).body.decode()
    assert "<script" not in body
    assert body.count("&lt;script&gt;alert(&quot;x&quot; + &#x27;y&#x27;)&lt;/script&gt;&amp;amp; $name ${x}") == 3


def test_a_page_is_html_with_its_status_and_headers():
    response = render_page("problem", 429, {"Retry-After": "7"}, title="Later", says="Not now.")
    assert response.status_code == 429
    assert response.headers["retry-after"] == "7"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.body.startswith(b"<!doctype html>")


def test_pages_have_no_script_and_no_style_but_the_stylesheet():
    for name, parts in (
        ("home", {"name", "role", "dataset", "may", "csrf", "example"}),
        ("sign_in", {"name", "problem"}),
        ("first_sign_in", {"code", "problem"}),
        ("token", {"secret"}),
        ("problem", {"says"}),
    ):
        body = render_page(name, title="Title", **dict.fromkeys(parts, "part")).body.decode()
        assert "<script" not in body
        assert "style=" not in body
        assert " on" not in "".join(line for line in body.splitlines() if line.startswith("<input"))
        assert body.count("<h1>") == 1
    assert b"@import" not in read_stylesheet()
    assert b"url(" not in read_stylesheet()
