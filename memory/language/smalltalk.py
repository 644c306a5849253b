"""Whether a message can hold nothing worth noting: small talk, a question about the world.

Certain or not at all: whatever could be a fact about the person is for the model to judge.
"""

import re

_LONGEST_CHARS = 40
_NOISE = re.compile(r"[\W_]+")
_STRETCHED = re.compile(r"(.)\1{2,}")
_PHRASES = (
    # English
    "good morning|good evening|good afternoon|good night|thank you|thanks a lot|many thanks|no problem"
    "|you're welcome|see you later|see you|bye bye|have a nice day|sounds good|got it|all right"
    "|what's up|how are you|how are you doing|nice to meet you|talk to you later|never mind"
    "|hello|hey|hi|thanks|thank|thx|ty|bye|ok|okay|okey|k|cool|nice|great|lol|haha|hehe|wow|sure"
    "|alright|morning|night|goodnight|cheers|welcome|test|ping|there|so much|very much|again|all"
    "|everyone|kith|then|and|oh|yo|sup|good|hmm|hm|ah|perfect|awesome|understood|noted"
    # Chinese
    "|早上好|早安|午安|晚安|你好嗎|你好|妳好|您好|哈囉|嗨|嘿|大家好|各位好|謝謝你|謝謝妳|謝謝您|謝謝|多謝|感謝|謝啦|謝了|感恩"
    "|不客氣|沒關係|沒事了|沒事|再見|掰掰|拜拜|明天見|回頭見|好的|好喔|好哦|好啊|好吧|好啦|好了|了解|收到|知道了|明白了|明白|沒問題"
    "|哈哈|呵呵|嘻嘻|嗯嗯|嗯|喔|哦|噢|好|早|讚|太好了|真棒|厲害|辛苦了|在嗎|你在嗎|吃飽了嗎|测试|測試|谢谢你|谢谢|不客气|没事|哈啰|再见|好呀|笑死"
    # Japanese
    "|おはようございます|おはよう|こんにちは|こんばんは|おやすみなさい|おやすみ|ありがとうございます|ありがとうございました|ありがとう"
    "|どうもありがとう|どうも|じゃあね|じゃあまた|またね|また明日|さようなら|バイバイ|了解です|了解しました|了解|わかりました|わかった"
    "|お疲れ様です|お疲れ様でした|お疲れさま|お疲れ様|よろしくお願いします|よろしく|なるほど|すごい|いいね|オッケー|笑|草|ｗｗ|www|はじめまして"
)
_ALL_SMALL = re.compile(
    rf"(?:{'|'.join(re.escape(_NOISE.sub('', one)) for one in sorted(_PHRASES.split('|'), key=len, reverse=True))})+"
)


def is_small_talk(text: str) -> bool:
    """Whether nothing but small talk is in it. Yes and no are not: they may answer a question."""
    if len(text) > _LONGEST_CHARS:
        return False
    words = _STRETCHED.sub(r"\1\1", text.casefold())
    bare = _NOISE.sub("", words)
    return not bare or _ALL_SMALL.fullmatch(bare) is not None


_ONE_QUESTION = re.compile(r"[^.!?。！？\n;；]*[?？]+\s*")
_SOMEBODYS = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|our|ours|us|im|ive)\b"
    r"|[我咱俺]|人家|私|僕|わたし|ぼく|うち|自分|記住|記得|記下|覚えて|\bremember\b",
    re.IGNORECASE,
)


def is_plain_question(text: str) -> bool:
    """Whether it is one question and speaks of nobody here: what it asks is no fact about anybody."""
    return _ONE_QUESTION.fullmatch(text) is not None and _SOMEBODYS.search(text) is None
