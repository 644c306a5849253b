"""Every sentence that Kith itself says in a chat, in each of its languages, in one table."""

from enum import StrEnum

from memory.language.text import has_cjk


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
    HISTORY_OF_WHAT = "history_of_what"
    NOTHING_FOUND = "nothing_found"
    KEYWORD_ONLY = "keyword_only"
    YES = "yes"
    NO = "no"
    NOT_ALLOWED = "not_allowed"
    ADMINS_ONLY = "admins_only"
    ASK_ALONE = "ask_alone"
    COMMAND_FAILED = "command_failed"
    NEW_WINDOW = "new_window"
    RESET_ASKED = "reset_asked"
    RESET_ALL_ASKED = "reset_all_asked"
    RESET_CALLED_OFF = "reset_called_off"
    WAS_CLEARED = "was_cleared"
    MEMORY_MESSAGES = "memory_messages"
    MEMORY_SUMMARY = "memory_summary"
    MEMORY_SHORT = "memory_short"
    MEMORY_LONG = "memory_long"
    CLEARED = "cleared"
    KEPT = "kept"
    ABSENT = "absent"
    STOPPING = "stopping"
    NOTHING_TO_STOP = "nothing_to_stop"
    MODEL_IS = "model_is"
    REMEMBERED = "remembered"
    NOTHING_REMEMBERED = "nothing_remembered"
    SERVICE_IS = "service_is"
    SEARCH_BY_WORDS = "search_by_words"
    VECTORS_WAIT = "vectors_wait"
    WHO_YOU_ARE = "who_you_are"
    SESSIONS_ARE = "sessions_are"
    NO_SUCH_SESSION = "no_such_session"
    ADMIN_RESET_ASKED = "admin_reset_asked"
    ABOUT_HELP = "about_help"
    ABOUT_START = "about_start"
    ABOUT_NEW = "about_new"
    ABOUT_RESET = "about_reset"
    ABOUT_STOP = "about_stop"
    ABOUT_STATUS = "about_status"
    ABOUT_WHOAMI = "about_whoami"
    ABOUT_ADMIN = "about_admin"
    ABOUT_SESSIONS = "about_sessions"
    ABOUT_INSPECT = "about_inspect"
    ABOUT_ADMIN_RESET = "about_admin_reset"
    ABOUT_TARGET = "about_target"
    ABOUT_WHAT = "about_what"
    ABOUT_CONFIRM = "about_confirm"


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
    Word.HISTORY_OF_WHAT: {
        Language.ENGLISH: "What shall I look for? For example: /history green tea",
        Language.CHINESE: "要找什麼呢？例如：/history 綠茶",
    },
    Word.NOTHING_FOUND: {
        Language.ENGLISH: "I found nothing about that here.",
        Language.CHINESE: "這裡找不到相關的內容。",
    },
    Word.KEYWORD_ONLY: {
        Language.ENGLISH: "(Found by words alone: my embedding model is not available.)",
        Language.CHINESE: "（目前只能用關鍵字找：語意搜尋的模型暫時無法使用。）",
    },
    Word.YES: {
        Language.ENGLISH: "yes",
        Language.CHINESE: "是",
    },
    Word.NO: {
        Language.ENGLISH: "no",
        Language.CHINESE: "否",
    },
    Word.NOT_ALLOWED: {
        Language.ENGLISH: "You may not use this bot here.",
        Language.CHINESE: "你不能在這裡使用這個機器人。",
    },
    Word.ADMINS_ONLY: {
        Language.ENGLISH: "Only an administrator may do that.",
        Language.CHINESE: "只有管理者可以這麼做。",
    },
    Word.ASK_ALONE: {
        Language.ENGLISH: "Others would read the answer here. Please ask me in a direct chat.",
        Language.CHINESE: "在這裡回答會讓其他人看到，請私訊我再問一次。",
    },
    Word.COMMAND_FAILED: {
        Language.ENGLISH: "That did not work: {reason}.",
        Language.CHINESE: "沒有成功：{reason}。",
    },
    Word.NEW_WINDOW: {
        Language.ENGLISH: (
            "A new conversation begins. Nothing was deleted; what I summarised stays with me."
        ),
        Language.CHINESE: "新的對話開始了。沒有刪除任何內容，我整理過的摘要也都還在。",
    },
    Word.RESET_ASKED: {
        Language.ENGLISH: (
            "This deletes the {count} messages of this conversation for good. The summary and"
            " long-term facts stay. To do it: /reset yes\n"
            "To clear those too: /reset all yes\n"
            "To bring the summary up to date first: /reset fresh yes"
        ),
        Language.CHINESE: (
            "這會永久刪除這段對話的 {count} 則訊息，摘要與長期記憶會保留。確定要做請輸入：/reset yes\n"
            "連摘要與長期記憶也一併清除：/reset all yes\n"
            "先更新摘要再清除：/reset fresh yes"
        ),
    },
    Word.RESET_ALL_ASKED: {
        Language.ENGLISH: (
            "This deletes everything that I remember of this conversation for good: {count} "
            "messages, the summary and all facts. To do it: /reset all yes"
        ),
        Language.CHINESE: "這會永久刪除我對這段對話的所有記憶：{count} 則訊息、摘要與全部記下的事。確定要做請輸入：/reset all yes",
    },
    Word.RESET_CALLED_OFF: {
        Language.ENGLISH: (
            "I could not bring the summary up to date, so nothing was deleted. Please try "
            "again later."
        ),
        Language.CHINESE: "摘要沒能更新，所以沒有刪除任何內容，請稍後再試。",
    },
    Word.WAS_CLEARED: {
        Language.ENGLISH: "The conversation was reset ({count} messages).",
        Language.CHINESE: "對話已重設（{count} 則訊息）。",
    },
    Word.MEMORY_MESSAGES: {
        Language.ENGLISH: "messages",
        Language.CHINESE: "對話訊息",
    },
    Word.MEMORY_SUMMARY: {
        Language.ENGLISH: "summary",
        Language.CHINESE: "摘要",
    },
    Word.MEMORY_SHORT: {
        Language.ENGLISH: "short-term facts",
        Language.CHINESE: "短期記憶",
    },
    Word.MEMORY_LONG: {
        Language.ENGLISH: "long-term facts",
        Language.CHINESE: "長期記憶",
    },
    Word.CLEARED: {
        Language.ENGLISH: "cleared",
        Language.CHINESE: "已清除",
    },
    Word.KEPT: {
        Language.ENGLISH: "kept",
        Language.CHINESE: "保留",
    },
    Word.ABSENT: {
        Language.ENGLISH: "there were none",
        Language.CHINESE: "原本就沒有",
    },
    Word.STOPPING: {
        Language.ENGLISH: "I am stopping.",
        Language.CHINESE: "好，我停下來。",
    },
    Word.NOTHING_TO_STOP: {
        Language.ENGLISH: "I am not writing anything right now.",
        Language.CHINESE: "我現在沒有在回覆。",
    },
    Word.MODEL_IS: {
        Language.ENGLISH: "Model: {model}",
        Language.CHINESE: "語言模型：{model}",
    },
    Word.REMEMBERED: {
        Language.ENGLISH: "Messages remembered: {count}; summary: {summary}",
        Language.CHINESE: "記得的訊息：{count} 則；摘要：{summary}",
    },
    Word.NOTHING_REMEMBERED: {
        Language.ENGLISH: "I remember nothing of this conversation yet.",
        Language.CHINESE: "這段對話我還沒有記下任何內容。",
    },
    Word.SERVICE_IS: {
        Language.ENGLISH: "Conversations under way: {lanes}; to answer: {inbox}; to send: {outbox}",
        Language.CHINESE: "進行中的對話：{lanes}；待回覆：{inbox}；待送出：{outbox}",
    },
    Word.SEARCH_BY_WORDS: {
        Language.ENGLISH: "Search: by words only for now; my embedding model is not available.",
        Language.CHINESE: "搜尋：目前只能用關鍵字，語意搜尋的模型暫時無法使用。",
    },
    Word.VECTORS_WAIT: {
        Language.ENGLISH: "- messages that wait for vectors: {count}",
        Language.CHINESE: "- 還在等待建立向量的訊息：{count}",
    },
    Word.WHO_YOU_ARE: {
        Language.ENGLISH: (
            "You are {name} ({person}). This conversation is {session}, memory mode {mode}. "
            "Administrator: {admin}"
        ),
        Language.CHINESE: "你是 {name}（{person}）。這段對話的代號是 {session}，記憶模式為 {mode}。管理者：{admin}",
    },
    Word.SESSIONS_ARE: {
        Language.ENGLISH: "Conversations: {count}; the last used {shown}:",
        Language.CHINESE: "對話共 {count} 段，最近使用的 {shown} 段：",
    },
    Word.NO_SUCH_SESSION: {
        Language.ENGLISH: "There is no conversation {target!r}. /admin sessions lists them.",
        Language.CHINESE: "沒有代號為 {target!r} 的對話，可用 /admin sessions 列出。",
    },
    Word.ADMIN_RESET_ASKED: {
        Language.ENGLISH: (
            "This deletes the {count} messages of that conversation for good. To do it: "
            "/admin reset {given} yes"
        ),
        Language.CHINESE: "這會永久刪除那段對話的 {count} 則訊息。確定要做請輸入：/admin reset {given} yes",
    },
    Word.ABOUT_HELP: {
        Language.ENGLISH: "Show what I can do",
        Language.CHINESE: "顯示我會做的事",
    },
    Word.ABOUT_START: {
        Language.ENGLISH: "Say hello",
        Language.CHINESE: "打個招呼",
    },
    Word.ABOUT_NEW: {
        Language.ENGLISH: "Begin a new conversation; deletes nothing",
        Language.CHINESE: "開始新的對話，不會刪除任何內容",
    },
    Word.ABOUT_RESET: {
        Language.ENGLISH: "Delete this conversation's messages; asks first",
        Language.CHINESE: "刪除這段對話的訊息，會先確認",
    },
    Word.ABOUT_STOP: {
        Language.ENGLISH: "Stop the answer that I am writing",
        Language.CHINESE: "停止我正在寫的回覆",
    },
    Word.ABOUT_STATUS: {
        Language.ENGLISH: "Show how I am doing and what I remember",
        Language.CHINESE: "顯示我的狀態與記得的內容",
    },
    Word.ABOUT_WHOAMI: {
        Language.ENGLISH: "Show under which ids I know you",
        Language.CHINESE: "顯示我用哪個代號認得你",
    },
    Word.ABOUT_ADMIN: {
        Language.ENGLISH: "For administrators",
        Language.CHINESE: "管理者專用",
    },
    Word.ABOUT_SESSIONS: {
        Language.ENGLISH: "List the conversations",
        Language.CHINESE: "列出所有對話",
    },
    Word.ABOUT_INSPECT: {
        Language.ENGLISH: "Show figures about a conversation",
        Language.CHINESE: "顯示一段對話的概況",
    },
    Word.ABOUT_ADMIN_RESET: {
        Language.ENGLISH: "Delete the messages of a conversation; asks first",
        Language.CHINESE: "刪除一段對話的訊息，會先確認",
    },
    Word.ABOUT_TARGET: {
        Language.ENGLISH: "The conversation, as /admin sessions shows it",
        Language.CHINESE: "對話代號，可由 /admin sessions 查到",
    },
    Word.ABOUT_WHAT: {
        Language.ENGLISH: "all: the summary and facts too; fresh: summarise first",
        Language.CHINESE: "all：連摘要與記憶一起清除；fresh：先更新摘要",
    },
    Word.ABOUT_CONFIRM: {
        Language.ENGLISH: "Yes, delete it",
        Language.CHINESE: "是的，請刪除",
    },
}


def say(word: Word, language: Language, **values: object) -> str:
    """The sentence in a language, with its blanks filled."""
    return _TABLE[word][language].format(**values)


def describe(word: Word) -> dict[str, str]:
    """The sentence in every language, by its tag."""
    return {language.value: text for language, text in _TABLE[word].items()}


def language_of(text: str, hint: str | None = None) -> Language:
    """The language to answer in: that of the text, else of the person's client."""
    if has_cjk(text) or (not text.strip(" /") and (hint or "").lower().startswith("zh")):
        return Language.CHINESE
    return Language.ENGLISH
