"""How a command is written as text: its options, quotation marks, the rest of the line.

    /name [WORD | "SEVERAL WORDS"]... [REST OF THE LINE]

Each word goes to the first option that is free and takes it, whatever their order; one that no
option takes is left out. Words in quotation marks are one word, and always text. An option of the
kind LINE takes all that follows as it stands, quotation marks included: it is the last one.
"""

import re
from collections.abc import Mapping, Sequence

from bot.ports import CommandOption, OptionKind

YES = frozenset({"yes", "y", "true", "confirm", "是", "好", "確定", "確認"})
"""What sets an option of the kind FLAG."""
TRUE = "true"

_WORD = re.compile(
    r'"(?P<plain>[^"]{0,200})"|“(?P<curly>[^”]{0,200})”|「(?P<corner>[^」]{0,200})」|(?P<bare>\S+)'
)
"""The bound keeps a text of a million opening marks linear."""


def read_arguments(options: Sequence[CommandOption], text: str) -> Mapping[str, str]:
    """What a text gives for each option, by the option's name; what is not given is absent.

    Args:
        options: those of the command, in their order; a LINE only as the last.
        text: what follows the command's name.
    """
    line = options[-1] if options and options[-1].kind is OptionKind.LINE else None
    given: dict[str, str] = {}
    for found in _WORD.finditer(text):
        taker = next((o for o in options if o.name not in given and _takes(o, found)), None)
        if taker is not None:
            given[taker.name] = TRUE if taker.kind is OptionKind.FLAG else _word(found)
        elif line is not None:
            given[line.name] = text[found.start() :].strip()
            break
        if len(given) == len(options):
            break
    return given


def _word(found: re.Match[str]) -> str:
    """The word without its quotation marks."""
    return found[found.lastgroup or 0]


def _takes(option: CommandOption, found: re.Match[str]) -> bool:
    word, quoted = _word(found), found.lastgroup != "bare"
    match option.kind:
        case OptionKind.FLAG:
            return not quoted and word.casefold() in YES
        case OptionKind.INTEGER:
            return not quoted and word.isdecimal()
        case OptionKind.LINE:
            return False
    return bool(word) and (not option.choices or word in option.choices)
