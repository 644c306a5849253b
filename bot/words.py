"""Every sentence that Kith itself says in a chat, in each of its languages, in one table."""

from enum import StrEnum

from memory.text import has_cjk


class Language(StrEnum):
    """Languages of our own texts."""

    ENGLISH = "en"
    CHINESE = "zh-TW"


class Word(StrEnum):
    """A sentence, by what it says."""

    MODEL_UNREACHABLE = "model_unreachable"
    MODEL_MISSING = "model_missing"
    MODEL_SILENT = "model_silent"
    MODEL_FAILED = "model_failed"
    NO_ANSWER = "no_answer"
    TOO_LONG = "too_long"
    STORAGE_FAILED = "storage_failed"
    WAS_RESET = "was_reset"
    STOPPED = "stopped"
    BUSY = "busy"
    LEFT_UNANSWERED = "left_unanswered"
    LOST = "lost"
    FAULT = "fault"
    HELP = "help"
    NO_SUCH_COMMAND = "no_such_command"


_TABLE: dict[Word, dict[Language, str]] = {
    Word.MODEL_UNREACHABLE: {
        Language.ENGLISH: "I cannot reach my model right now. Please try again in a moment.",
        Language.CHINESE: "我現在連不上語言模型，請稍後再試一次。",
    },
    Word.MODEL_MISSING: {
        Language.ENGLISH: "My model is not installed. Whoever runs me can fix this: kith doctor",
        Language.CHINESE: "我的語言模型還沒安裝，請管理者執行 kith doctor 檢查。",
    },
    Word.MODEL_SILENT: {
        Language.ENGLISH: "My model took too long to answer. Please try again.",
        Language.CHINESE: "語言模型太久沒有回應，請再試一次。",
    },
    Word.MODEL_FAILED: {
        Language.ENGLISH: "My model could not answer that. Please try again.",
        Language.CHINESE: "語言模型這次無法回答，請再試一次。",
    },
    Word.NO_ANSWER: {
        Language.ENGLISH: "I could not find words for that. Please ask in another way.",
        Language.CHINESE: "我一時說不出話來，請換個方式再問一次。",
    },
    Word.TOO_LONG: {
        Language.ENGLISH: (
            "That message is too long for me: about {needed} tokens, and I can read {limit}."
            " Please send it in smaller parts."
        ),
        Language.CHINESE: "這則訊息太長了：大約 {needed} 個 token，我最多能讀 {limit} 個。請分成幾段再傳。",
    },
    Word.STORAGE_FAILED: {
        Language.ENGLISH: "I could not store this exchange, so I will not remember it: {reason}.",
        Language.CHINESE: "這段對話沒能存下來，我之後不會記得：{reason}。",
    },
    Word.WAS_RESET: {
        Language.ENGLISH: "This conversation was reset while I was answering, so I let that go.",
        Language.CHINESE: "我回答的時候這段對話被重設了，所以剛才那句就不算了。",
    },
    Word.STOPPED: {
        Language.ENGLISH: "Stopped.",
        Language.CHINESE: "已停止。",
    },
    Word.BUSY: {
        Language.ENGLISH: "I still have several of your messages to answer. Please wait a moment.",
        Language.CHINESE: "我還有好幾則訊息沒回完，請稍等一下。",
    },
    Word.LEFT_UNANSWERED: {
        Language.ENGLISH: (
            "I was away for a while. Messages here that I did not answer: {count}."
            " Please send again what still matters."
        ),
        Language.CHINESE: "我剛才離線了一陣子，這裡有 {count} 則訊息沒有回覆。還需要我回的話，請再傳一次。",
    },
    Word.LOST: {
        Language.ENGLISH: (
            "I was restarted and lost the last message, because I write nothing down here."
            " Please send it again."
        ),
        Language.CHINESE: "我剛才重新啟動，而這裡的訊息我不會寫下來，所以上一則沒能留住，請再傳一次。",
    },
    Word.FAULT: {
        Language.ENGLISH: "Something went wrong on my side. It has been logged.",
        Language.CHINESE: "我這邊出了點問題，已經記錄下來了。",
    },
    Word.HELP: {
        Language.ENGLISH: "Just write to me; I remember what we talk about. Commands:",
        Language.CHINESE: "直接跟我說話就好，我會記得我們聊過的事。可用的指令：",
    },
    Word.NO_SUCH_COMMAND: {
        Language.ENGLISH: "There is no command /{name}. /help lists them all.",
        Language.CHINESE: "沒有 /{name} 這個指令。輸入 /help 可以看到全部。",
    },
}


def say(word: Word, language: Language, **values: object) -> str:
    """The sentence in a language, with its blanks filled."""
    return _TABLE[word][language].format(**values)


def language_of(text: str, hint: str | None = None) -> Language:
    """The language to answer in: that of the text, else of the person's client."""
    if has_cjk(text) or (not text.strip(" /") and (hint or "").lower().startswith("zh")):
        return Language.CHINESE
    return Language.ENGLISH
