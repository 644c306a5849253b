"""Markdown, as models write it, in the HTML that Telegram takes.

Pure. What it does not know stays as it was written; everything is escaped, and what people see is
never longer than what was given, so that a part within the limit stays within it.
"""

import re
from html import escape

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,8}|~{3,8})(?P<info>[^`]{0,40})$")
_HEADING = re.compile(r"^#{1,6} +(?P<title>\S.*?)(?: +#+)?$")
_BULLET = re.compile(r"^(?P<indent> *)[-*+] +(?P<item>\S.*)$")
_LANGUAGE = re.compile(r"^[A-Za-z0-9_+#.-]+")
_INLINE = re.compile(
    r"\\(?P<literal>[*_`~])"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)"
    r"|\[(?P<label>[^\[\]]+)\]\((?P<url>https?://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)?)\)"
    r"|\*\*(?=[^\s*])(?P<b>.+?)(?<=[^\s])\*\*"
    r"|(?<![A-Za-z0-9_])__(?=[^\s_])(?P<b2>.+?)(?<=[^\s_])__(?![A-Za-z0-9_])"
    r"|~~(?=[^\s~])(?P<s>.+?)(?<=[^\s~])~~"
    r"|(?<![A-Za-z0-9*])\*(?=[^\s*])(?P<i>[^*]+?)(?<=[^\s*])\*(?![A-Za-z0-9*])"
    r"|(?<![A-Za-z0-9_])_(?=[^\s_])(?P<i2>[^_]+?)(?<=[^\s_])_(?![A-Za-z0-9_])"
)
_TAGS = {"b": "b", "b2": "b", "s": "s", "i": "i", "i2": "i"}
_DEEPEST = 4


def to_html(text: str) -> str | None:
    """The text as Telegram HTML, or None if there is nothing in it to format."""
    html = "\n".join(_blocks(text.split("\n")))
    return None if html == _escaped(text) else html


def _blocks(lines: list[str]) -> list[str]:
    blocks: list[str] = []
    at = 0
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        end = _fence_end(lines, at, opened["mark"]) if opened else None
        if opened and end is not None:
            blocks.append(_code_block(opened["info"], lines[at + 1 : end]))
            at = end + 1
        else:
            blocks.append(_line(lines[at]))
            at += 1
    return blocks


def _fence_end(lines: list[str], start: int, mark: str) -> int | None:
    for at in range(start + 1, len(lines)):
        closing = _FENCE.match(lines[at])
        if closing and closing["mark"].startswith(mark) and not closing["info"].strip():
            return at
    return None


def _code_block(info: str, lines: list[str]) -> str:
    code = _escaped("\n".join(lines))
    language = _LANGUAGE.match(info.strip())
    if language is None:
        return f"<pre>{code}</pre>"
    return f'<pre><code class="language-{language.group()}">{code}</code></pre>'


def _line(line: str) -> str:
    heading = _HEADING.match(line)
    if heading:
        return f"<b>{_inline(heading['title'], bold=True)}</b>"
    bullet = _BULLET.match(line)
    if bullet:
        return f"{bullet['indent']}• {_inline(bullet['item'])}"
    return _inline(line)


def _inline(text: str, *, depth: int = 0, bold: bool = False) -> str:
    if depth >= _DEEPEST:
        return _escaped(text)
    html, at = "", 0
    for found in _INLINE.finditer(text):
        html += _escaped(text[at : found.start()]) + _span(found, depth=depth, bold=bold)
        at = found.end()
    return html + _escaped(text[at:])


def _span(found: re.Match[str], *, depth: int, bold: bool) -> str:
    kind = found.lastgroup or ""
    inner = found[kind]
    if kind == "literal":
        return _escaped(inner)
    if kind == "code":
        return f"<code>{_escaped(inner.strip() or inner)}</code>"
    if kind == "url":
        return f'<a href="{escape(inner)}">{_escaped(found["label"])}</a>'
    tag = _TAGS[kind]
    body = _inline(inner, depth=depth + 1, bold=bold or tag == "b")
    return body if bold and tag == "b" else f"<{tag}>{body}</{tag}>"


def _escaped(text: str) -> str:
    return escape(text, quote=False)
