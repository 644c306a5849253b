import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.split import utf16_units
from adapters.telegram.formatting import to_html
from tests.wire.telegram_text import parse_html

MARKS = ["**", "*", "_", "__", "`", "```", "```py\n", "\n", "~~", "[a](https://b.c)", "# ", "- "]
PIECES = [*MARKS, "<b>", "&", "字", "word", " ", "\\", "😀", "[", "](", ")"]
MARKDOWN = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**bold** word", "<b>bold</b> word"),
        ("這是**重點**喔", "這是<b>重點</b>喔"),
        ("これは*大事*です", "これは<i>大事</i>です"),
        ("_a_ and __b__", "<i>a</i> and <b>b</b>"),
        ("~~old~~ new", "<s>old</s> new"),
        ("**a *b* `c*d`**", "<b>a <i>b</i> <code>c*d</code></b>"),
        ("use `a < b`", "use <code>a &lt; b</code>"),
        ("[docs](https://a.example/x_(y)?q=1&r=2)", None),
        ("# Title **x**", "<b>Title x</b>"),
        ("- one\n  * two", "• one\n  • two"),
        ("```py\nif a < b:\n    c\n```", None),
        ("```\nx\n```", "<pre>x</pre>"),
        ("\\*no\\*", "*no*"),
        ("**~~*_a<b_*~~**", "<b><s><i><i>a&lt;b</i></i></s></b>"),
    ],
)
def test_markdown_becomes_telegram_html(markdown, html):
    found = to_html(markdown)

    expected = (
        html
        or {
            "[": '<a href="https://a.example/x_(y)?q=1&amp;r=2">docs</a>',
            "`": '<pre><code class="language-py">if a &lt; b:\n    c</code></pre>',
        }[markdown[0]]
    )
    assert found == expected


@pytest.mark.parametrize(
    "plain",
    [
        "2 * 3 * 4",
        "2*3*4",
        "snake_case_name",
        "a < b & c",
        "**",
        "x ** y",
        "[x](javascript:y)",
        "`",
    ],
)
def test_what_is_no_markdown_stays_plain_text(plain):
    assert to_html(plain) is None


@given(MARKDOWN)
@settings(deadline=None)
def test_the_html_is_always_one_that_telegram_takes_and_never_longer(markdown):
    html = to_html(markdown)

    if html is not None:
        text, _ = parse_html(html)
        assert utf16_units(text) <= utf16_units(markdown)


def test_a_long_row_of_marks_takes_no_long_time():
    for mark in ("*", "**", "_", "`", "``", "[", "~~", "**a"):
        to_html(mark * 4000)
