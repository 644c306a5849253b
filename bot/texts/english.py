"""What Kith says, in English."""

from collections.abc import Mapping

from bot.texts.keys import Text

ENGLISH: Mapping[Text, str] = {
    # Instead of an answer
    Text.MODEL_UNREACHABLE: "I cannot reach my model right now. Please try again in a moment.",
    Text.MODEL_MISSING: "My model is not installed. Whoever runs me can fix this: kith doctor",
    Text.MODEL_SILENT: "My model took too long to answer. Please try again.",
    Text.MODEL_FAILED: "My model could not answer that. Please try again.",
    Text.NO_ANSWER: "I could not find words for that. Please ask in another way.",
    Text.TOO_LONG: (
        "That message is too long for me: about {needed} tokens, and I can read {limit}. "
        "Please send it in smaller parts."
    ),
    Text.STORAGE_FAILED: "I could not store this exchange, so I will not remember it: {reason}.",
    Text.WAS_RESET: "This conversation was reset while I was answering, so I let that go.",
    Text.STOPPED: "Stopped.",
    Text.BUSY: "I still have several of your messages to answer. Please wait a moment.",
    Text.LEFT_UNANSWERED: (
        "I was away for a while. Messages here that I did not answer: {count}. Please send "
        "again what still matters."
    ),
    Text.LOST: (
        "I was restarted and lost the last message, because I write nothing down here. Please "
        "send it again."
    ),
    Text.FAULT: "Something went wrong on my side. It has been logged.",
    # While a tool runs
    Text.RUNS_NOW: "looking at the clock",
    Text.RUNS_CHAT_HISTORY: "looking through our earlier messages",
    Text.RUNS_REMEMBER: "remembering that",
    Text.RUNS_FORGET_FACT: "forgetting that",
    Text.RUNS_WRITE_ERROR: "noting what went wrong",
    Text.RUNS_ERROR_HISTORY: "looking through earlier errors",
    # Commands, their groups and options, as they are listed
    Text.ABOUT_HELP: "Show what I can do",
    Text.ABOUT_START: "Say hello",
    Text.ABOUT_NEW: "Begin a new conversation; deletes nothing",
    Text.ABOUT_RESET: "Delete this conversation's messages; asks first",
    Text.ABOUT_RESET_WHAT: "all: the summary and facts too; fresh: summarise first",
    Text.ABOUT_RESET_CONFIRM: "Yes, delete it",
    Text.ABOUT_STOP: "Stop the answer that I am writing",
    Text.ABOUT_STATUS: "Show how I am doing and what I remember",
    Text.ABOUT_WHOAMI: "Show under which ids I know you",
    Text.ABOUT_HISTORY: "Look up what was said here",
    Text.ABOUT_HISTORY_QUERY: "What to look for; in quotation marks: exactly that",
    Text.ABOUT_SUMMARY: "Show what I keep in mind of our talk",
    Text.ABOUT_SUMMARY_WHAT: "refresh: bring it up to date now (administrators)",
    Text.ABOUT_MEMORY: "What I remember about you",
    Text.ABOUT_MEMORY_LIST: "List what I remember about you here",
    Text.ABOUT_MEMORY_SHOW: "Show a fact and where it came from",
    Text.ABOUT_MEMORY_SEARCH: "Search what I remember",
    Text.ABOUT_MEMORY_ADD: "Have me remember something",
    Text.ABOUT_MEMORY_EDIT: "Correct a fact",
    Text.ABOUT_MEMORY_DELETE: "Delete a fact with its history",
    Text.ABOUT_MEMORY_PAUSE: "Stop or resume noting new facts",
    Text.ABOUT_MEMORY_WHY: "Show what my last reply was based on",
    Text.ABOUT_MEMORY_ID: "The fact's number",
    Text.ABOUT_MEMORY_TEXT: "What to remember, in one sentence",
    Text.ABOUT_MEMORY_SWITCH: "on or off",
    Text.ABOUT_MODE: "Show or change this conversation's memory",
    Text.ABOUT_MODE_WHICH: "full, window or pools",
    Text.ABOUT_MODE_STORED: "What becomes of what is stored and no longer used: keep or purge",
    Text.ABOUT_MODE_SEED: "yes: take the decisions of the summary over as facts",
    Text.ABOUT_ADMIN: "For administrators",
    Text.ABOUT_ADMIN_SESSIONS: "List the conversations",
    Text.ABOUT_ADMIN_INSPECT: "Show figures about a conversation",
    Text.ABOUT_ADMIN_RESET: "Delete the messages of a conversation; asks first",
    Text.ABOUT_ADMIN_TARGET: "The conversation, as /admin sessions shows it",
    Text.ABOUT_ERRORS: "Show what went wrong with tools, and what helped",
    Text.ABOUT_ERRORS_WHAT: "remove: delete this record",
    Text.ABOUT_ERRORS_ID: "The record to show, as the list has it",
    # Any command
    Text.HELP: "Just write to me; I remember what we talk about. Commands:",
    Text.YES: "yes",
    Text.NO: "no",
    Text.NO_SUCH_COMMAND: "There is no command /{name}. /help lists them all.",
    Text.NOT_ALLOWED: "You may not use this bot here.",
    Text.ADMINS_ONLY: "Only an administrator may do that.",
    Text.ASK_ALONE: "Others would read the answer here. Please ask me in a direct chat.",
    Text.COMMAND_FAILED: "That did not work: {reason}.",
    Text.COMMAND_BROKE: "Something went wrong with this command. Please try again later.",
    # /new, /stop, /reset
    Text.NEW_WINDOW: (
        "A new conversation begins. Nothing was deleted; what I summarised stays with me."
    ),
    Text.STOPPING: "I am stopping.",
    Text.NOTHING_TO_STOP: "I am not writing anything right now.",
    Text.RESET_CONFIRM: (
        "This deletes the {count} messages of this conversation for good. The summary and "
        "long-term facts stay. To do it: /reset yes\n"
        "To clear those too: /reset all yes\n"
        "To bring the summary up to date first: /reset fresh yes"
    ),
    Text.RESET_ALL_CONFIRM: (
        "This deletes everything that I remember of this conversation for good: {count} "
        "messages, the summary and all facts. To do it: /reset all yes"
    ),
    Text.RESET_CALLED_OFF: (
        "I could not bring the summary up to date, so nothing was deleted. Please try again later."
    ),
    Text.WAS_CLEARED: "The conversation was reset ({count} messages).",
    Text.MEMORY_MESSAGES: "messages",
    Text.MEMORY_SUMMARY: "summary",
    Text.MEMORY_SHORT: "short-term facts",
    Text.MEMORY_LONG: "long-term facts",
    Text.CLEARED: "cleared",
    Text.KEPT: "kept",
    Text.ABSENT: "there were none",
    # /status, /whoami
    Text.MODEL_IS: "Model: {model}",
    Text.REMEMBERED: "Messages remembered: {count}; summary: {summary}",
    Text.NOTHING_REMEMBERED: "I remember nothing of this conversation yet.",
    Text.FACTS_STATUS: (
        "Facts noted: {short} recent, {long} lasting; turns still to be noted: {waiting}."
    ),
    Text.LOST_TURNS: "Turns lost before they could be noted: {count}.",
    Text.NOTING_IS_PAUSED: "Noting is paused.",
    Text.SEARCH_BY_WORDS: "Search: by words only for now; my embedding model is not available.",
    Text.VECTORS_WAIT: "- messages that wait for vectors: {count}",
    Text.SERVICE_IS: "Conversations under way: {lanes}; to answer: {inbox}; to send: {outbox}",
    Text.WHO_YOU_ARE: (
        "You are {name} ({person}). This conversation is {session}, memory mode {mode}. "
        "Administrator: {admin}"
    ),
    # /history
    Text.HISTORY_OF_WHAT: "What shall I look for? For example: /history green tea",
    Text.NOTHING_FOUND: "I found nothing about that here.",
    Text.KEYWORD_ONLY: "(Found by words alone: my embedding model is not available.)",
    # /summary
    Text.NO_SUMMARY: "I have not summarised anything here yet.",
    Text.SUMMARY_UNTIL: "What I keep in mind of our talk up to {time}:",
    Text.SUMMARY_IS: "What I keep in mind of our talk:",
    Text.SUMMARY_DECISIONS: "Settled",
    Text.SUMMARY_EARLIER: "Talked about before",
    Text.SUMMARY_NOW: "Now",
    Text.SUMMARY_UP_TO_DATE: "The summary is up to date; newly covered messages: {messages}.",
    Text.SUMMARY_FAILED: (
        "My model gave no usable summary, so the old one stays. I will try again later."
    ),
    Text.SUMMARY_WITHOUT_MODEL: (
        "I cannot reach the model that writes summaries. The old one stays."
    ),
    Text.SUMMARY_MOVED: (
        "This conversation changed meanwhile, so the old summary stays. Please try again."
    ),
    # /memory
    Text.FACTS_ARE: "{count} facts:",
    Text.NO_FACTS: "I have noted nothing here yet.",
    Text.NO_SUCH_FACT: "There is no fact {id} here.",
    Text.FACT_NEEDS_ID: "Which one? Give its number; /memory list shows them.",
    Text.FACT_NEEDS_TEXT: "Please say what.",
    Text.FACT_ADDED: "Noted as {id}: {text}",
    Text.FACT_CHANGED: "Changed {id}: {text}",
    Text.FACT_DELETED: "Deleted {id}, with what it had replaced.",
    Text.FACT_SAID_BY: "said by {name}, {day}",
    Text.FACT_FROM: "from: {sources}",
    Text.FACT_BEFORE: "before: {text} ({day})",
    Text.FACT_LONG: "long-term",
    Text.FACT_SHORT: "recent",
    Text.NOTING_PAUSED: "I note no new facts in this conversation until /memory pause off.",
    Text.NOTING_RESUMED: "I note new facts again.",
    Text.WHY_FACTS: "My last reply saw these facts:",
    Text.WHY_SNIPPETS: "and {count} earlier messages.",
    Text.WHY_NOTHING: "My last reply saw no facts and no earlier messages besides the recent ones.",
    # /mode
    Text.MODE_IS: (
        "This conversation's memory is {mode}. Stored: {messages} messages, {short} recent and "
        "{long} lasting facts, summary: {summary}."
    ),
    Text.MODE_CONFIRM_POOLS: (
        "In pools mode I keep facts alone and no transcript. {messages} messages and the "
        "summary (there is one: {summary}) would not be used any more. Say what becomes of "
        "them: /mode pools keep, or /mode pools purge to delete them for good. Add yes to take "
        "the summary's decisions over as facts."
    ),
    Text.MODE_CONFIRM_WINDOW: (
        "In window mode I use the last messages and the summary, and note no facts. {short} "
        "recent and {long} lasting facts would not be used any more: /mode window keep, or "
        "/mode window purge to delete them for good."
    ),
    Text.MODE_CONFIRM_FULL: (
        "In full mode I keep every message of this conversation on disk, and facts. What was "
        "said in pools mode is not there and does not come back. To go on: /mode full keep"
    ),
    Text.MODE_SWITCHED: (
        "Memory is {mode} from now on. Deleted: {messages} messages, {facts} facts, summary: "
        "{summary}. Kept: {kept_messages} messages, {kept_facts} facts."
    ),
    Text.MODE_SEEDED: "Taken over from the summary: {count}.",
    # /admin
    Text.SESSIONS_ARE: "Conversations: {count}; the last used {shown}:",
    Text.NO_SUCH_SESSION: "There is no conversation {target!r}. /admin sessions lists them.",
    Text.ADMIN_RESET_CONFIRM: (
        "This deletes the {count} messages of that conversation for good. To do it: /admin "
        "reset {given} yes"
    ),
    Text.NO_ERRORS: "No tool errors are on record.",
    Text.ERROR_REMOVED: "Removed: {id}",
    Text.ERROR_NEEDS_ID: "Which one? Give the id of a record.",
    Text.NO_SUCH_ERROR: "There is no single record {id!r}.",
}
