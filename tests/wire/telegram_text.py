"""How Telegram reads text: HTML to text with entities, and the entities it finds by itself.

Offsets and lengths are UTF-16 code units (Bot API, "Formatting options").
"""

import re
from html import unescape

TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
    "tg-spoiler": "spoiler",
}
_TOKEN = re.compile(r"<(?P<end>/?)(?P<tag>[\w-]*)(?P<rest>[^<>]*)(?P<close>>?)|&#?\w+;")
_HREF = re.compile(r'^\s*href="([^"]*)"\s*$')
_FOUND = re.compile(
    r"(?P<email>[\w.+-]+@[\w-]+\.\w+)"
    r"|(?P<mention>(?<![\w@])@[A-Za-z0-9_]{2,32}(?!\w))"
    r"|(?P<bot_command>(?<![\w/])/[A-Za-z0-9_]{1,64}(?:@\w+)?)"
)


class CannotParse(Exception):
    """What stands after "can't parse entities: "."""


def utf16(text):
    return len(text.encode("utf-16-le")) // 2


def entities_in(text):
    """The mentions, commands and e-mail addresses that Telegram marks in plain text."""
    return [
        {
            "type": found.lastgroup,
            "offset": utf16(text[: found.start()]),
            "length": utf16(found.group()),
        }
        for found in _FOUND.finditer(text)
    ]


def parse_html(source):
    """Text and entities of HTML in Telegram's dialect; raises CannotParse as Telegram refuses."""
    text, entities, opened, at = "", [], [], 0
    for token in _TOKEN.finditer(source):
        text += source[at : token.start()]
        at = token.end()
        if token["tag"] is None:
            text += unescape(token.group())
        elif token["end"]:
            entities.append(_ended(token, opened, text))
        else:
            opened.append(_started(token, source, text))
    text += source[at:]
    if opened:
        raise CannotParse(f'Can\'t find end tag corresponding to start tag "{opened[-1]["tag"]}"')
    return text, [entity for entity in entities if entity["length"]]


def _started(token, source, text):
    tag = token["tag"]
    if tag not in TAGS or not token["close"]:
        offset = len(source[: token.start()].encode())
        raise CannotParse(f'Unsupported start tag "{tag}" at byte offset {offset}')
    entity = {"tag": tag, "type": TAGS[tag], "offset": utf16(text)}
    href = _HREF.match(token["rest"])
    if href:
        entity["url"] = unescape(href[1])
    return entity


def _ended(token, opened, text):
    if not opened or opened[-1]["tag"] != token["tag"]:
        raise CannotParse(f'Unexpected end tag "{token["tag"]}"')
    entity = opened.pop()
    entity.pop("tag")
    return {**entity, "length": utf16(text) - entity["offset"]}
