"""What the commands about memory say, in each language."""

from enum import StrEnum

from bot.texts.words import Language


class MemoryWord(StrEnum):
    """A sentence, by what it says."""

    ABOUT_MEMORY = "about_memory"
    ABOUT_LIST = "about_list"
    ABOUT_SHOW = "about_show"
    ABOUT_SEARCH = "about_search"
    ABOUT_ADD = "about_add"
    ABOUT_EDIT = "about_edit"
    ABOUT_DELETE = "about_delete"
    ABOUT_PAUSE = "about_pause"
    ABOUT_WHY = "about_why"
    ABOUT_ID = "about_id"
    ABOUT_TEXT = "about_text"
    ABOUT_SWITCH = "about_switch"
    ABOUT_MODE = "about_mode"
    ABOUT_WHICH = "about_which"
    ABOUT_STORED = "about_stored"
    ABOUT_SEED = "about_seed"
    FACTS_ARE = "facts_are"
    NO_FACTS = "no_facts"
    NO_SUCH_FACT = "no_such_fact"
    NEEDS_ID = "needs_id"
    NEEDS_TEXT = "needs_text"
    ADDED = "added"
    CHANGED = "changed"
    DELETED = "deleted"
    PAUSED = "paused"
    RESUMED = "resumed"
    SAID_BY = "said_by"
    FROM = "from"
    BEFORE = "before"
    WHY_FACTS = "why_facts"
    WHY_SNIPPETS = "why_snippets"
    WHY_NOTHING = "why_nothing"
    LONG = "long"
    SHORT = "short"
    MODE_IS = "mode_is"
    MODE_ASKED_POOLS = "mode_asked_pools"
    MODE_ASKED_WINDOW = "mode_asked_window"
    MODE_ASKED_FULL = "mode_asked_full"
    SWITCHED = "switched"
    SEEDED = "seeded"
    FACTS_STATUS = "facts_status"
    LOST_TURNS = "lost_turns"
    IS_PAUSED = "is_paused"


_TABLE: dict[MemoryWord, tuple[str, str]] = {
    MemoryWord.ABOUT_MEMORY: ("What I remember about you", "我記得你的哪些事"),
    MemoryWord.ABOUT_LIST: ("List what I remember about you here", "列出我在這裡記得你的事"),
    MemoryWord.ABOUT_SHOW: ("Show a fact and where it came from", "顯示一則記憶和它的來源"),
    MemoryWord.ABOUT_SEARCH: ("Search what I remember", "搜尋我記得的事"),
    MemoryWord.ABOUT_ADD: ("Have me remember something", "要我記住一件事"),
    MemoryWord.ABOUT_EDIT: ("Correct a fact", "更正一則記憶"),
    MemoryWord.ABOUT_DELETE: ("Delete a fact with its history", "刪除一則記憶和它的歷史"),
    MemoryWord.ABOUT_PAUSE: ("Stop or resume noting new facts", "暫停或繼續記下新的事"),
    MemoryWord.ABOUT_WHY: ("Show what my last reply was based on", "顯示我上一則回覆參考了什麼"),
    MemoryWord.ABOUT_ID: ("The fact's number", "記憶的編號"),
    MemoryWord.ABOUT_TEXT: ("What to remember, in one sentence", "要記住的內容，一句話"),
    MemoryWord.ABOUT_SWITCH: ("on or off", "on 或 off"),
    MemoryWord.ABOUT_MODE: (
        "Show or change this conversation's memory",
        "顯示或變更這段對話的記憶方式",
    ),
    MemoryWord.ABOUT_WHICH: ("full, window or pools", "full、window 或 pools"),
    MemoryWord.ABOUT_STORED: (
        "What becomes of what is stored and no longer used: keep or purge",
        "不再使用的資料要保留（keep）還是清除（purge）",
    ),
    MemoryWord.ABOUT_SEED: (
        "yes: take the decisions of the summary over as facts",
        "yes：把摘要裡的決定轉成長期記憶",
    ),
    MemoryWord.FACTS_ARE: ("{count} facts:", "共 {count} 則："),
    MemoryWord.NO_FACTS: ("I have noted nothing here yet.", "我在這裡還沒有記下任何事。"),
    MemoryWord.NO_SUCH_FACT: ("There is no fact {id} here.", "這裡沒有編號 {id} 的記憶。"),
    MemoryWord.NEEDS_ID: (
        "Which one? Give its number; /memory list shows them.",
        "要哪一則？請給編號，/memory list 可以看到。",
    ),
    MemoryWord.NEEDS_TEXT: ("Please say what.", "請說明內容。"),
    MemoryWord.ADDED: ("Noted as {id}: {text}", "已記下，編號 {id}：{text}"),
    MemoryWord.CHANGED: ("Changed {id}: {text}", "已更正 {id}：{text}"),
    MemoryWord.DELETED: (
        "Deleted {id}, with what it had replaced.",
        "已刪除 {id}，連同它取代的舊內容。",
    ),
    MemoryWord.PAUSED: (
        "I note no new facts in this conversation until /memory pause off.",
        "這段對話先不記新的事，直到 /memory pause off。",
    ),
    MemoryWord.RESUMED: ("I note new facts again.", "我會繼續記下新的事。"),
    MemoryWord.SAID_BY: ("said by {name}, {day}", "{name} 說的，{day}"),
    MemoryWord.FROM: ("from: {sources}", "來源：{sources}"),
    MemoryWord.BEFORE: ("before: {text} ({day})", "之前：{text}（{day}）"),
    MemoryWord.WHY_FACTS: ("My last reply saw these facts:", "我上一則回覆看到了這些記憶："),
    MemoryWord.WHY_SNIPPETS: ("and {count} earlier messages.", "以及 {count} 則先前的訊息。"),
    MemoryWord.WHY_NOTHING: (
        "My last reply saw no facts and no earlier messages besides the recent ones.",
        "我上一則回覆除了最近的訊息，沒有參考其他記憶。",
    ),
    MemoryWord.LONG: ("long-term", "長期"),
    MemoryWord.SHORT: ("recent", "近期"),
    MemoryWord.MODE_IS: (
        (
            "This conversation's memory is {mode}. Stored: {messages} messages, {short} recent and"
            " {long} lasting facts, summary: {summary}."
        ),
        "這段對話的記憶方式是 {mode}。目前存有：{messages} 則訊息、{short} 則近期記憶、{long} 則長期記憶，摘要：{summary}。",
    ),
    MemoryWord.MODE_ASKED_POOLS: (
        (
            "In pools mode I keep facts alone and no transcript. {messages} messages and the summary"
            " (there is one: {summary}) would not be used any more. Say what becomes of them:"
            " /mode pools keep, or /mode pools purge to delete them for good. Add yes to take the"
            " summary's decisions over as facts."
        ),
        (
            "pools 模式只保留重點記憶，不留對話紀錄。現有 {messages} 則訊息和摘要（有摘要：{summary}）之後不會再使用。請選擇："
            "/mode pools keep 保留，或 /mode pools purge 永久刪除。加上 yes 可把摘要中的決定轉成長期記憶。"
        ),
    ),
    MemoryWord.MODE_ASKED_WINDOW: (
        (
            "In window mode I use the last messages and the summary, and note no facts. {short} recent"
            " and {long} lasting facts would not be used any more: /mode window keep, or /mode window"
            " purge to delete them for good."
        ),
        (
            "window 模式只用最近的訊息和摘要，不記重點。現有 {short} 則近期和 {long} 則長期記憶之後不會再使用："
            "/mode window keep 保留，或 /mode window purge 永久刪除。"
        ),
    ),
    MemoryWord.MODE_ASKED_FULL: (
        (
            "In full mode I keep every message of this conversation on disk, and facts. What was said"
            " in pools mode is not there and does not come back. To go on: /mode full keep"
        ),
        "full 模式會把這段對話的每則訊息和重點都存在磁碟上。pools 模式期間說過的話不在其中，也不會回來。要繼續請輸入：/mode full keep",
    ),
    MemoryWord.SWITCHED: (
        (
            "Memory is {mode} from now on. Deleted: {messages} messages, {facts} facts, summary:"
            " {summary}. Kept: {kept_messages} messages, {kept_facts} facts."
        ),
        (
            "從現在起記憶方式是 {mode}。已刪除：{messages} 則訊息、{facts} 則記憶，摘要：{summary}。保留："
            "{kept_messages} 則訊息、{kept_facts} 則記憶。"
        ),
    ),
    MemoryWord.FACTS_STATUS: (
        "Facts noted: {short} recent, {long} lasting; turns still to be noted: {waiting}.",
        "已記下的重點：近期 {short} 則、長期 {long} 則；還有 {waiting} 輪對話待整理。",
    ),
    MemoryWord.LOST_TURNS: (
        "Turns lost before they could be noted: {count}.",
        "來不及整理就遺失的對話：{count} 輪。",
    ),
    MemoryWord.IS_PAUSED: ("Noting is paused.", "目前暫停記錄重點。"),
    MemoryWord.SEEDED: ("Taken over from the summary: {count}.", "從摘要轉入：{count} 則。"),
}


def tell(word: MemoryWord, language: Language, **values: object) -> str:
    """The sentence in a language, with its blanks filled."""
    return _TABLE[word][language is Language.CHINESE].format(**values)


def explain(word: MemoryWord) -> dict[str, str]:
    """The sentence in every language, by its tag."""
    english, chinese = _TABLE[word]
    return {Language.ENGLISH.value: english, Language.CHINESE.value: chinese}
