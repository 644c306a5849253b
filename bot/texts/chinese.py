"""What Kith says, in Traditional Chinese as it is written in Taiwan."""

from collections.abc import Mapping

from bot.texts.keys import Text

CHINESE: Mapping[Text, str] = {
    # Instead of an answer
    Text.MODEL_UNREACHABLE: "我現在連不上語言模型，請稍後再試一次。",
    Text.MODEL_MISSING: "我的語言模型還沒安裝，請管理者執行 kith doctor 檢查。",
    Text.MODEL_SILENT: "語言模型太久沒有回應，請再試一次。",
    Text.MODEL_FAILED: "語言模型這次無法回答，請再試一次。",
    Text.NO_ANSWER: "我一時說不出話來，請換個方式再問一次。",
    Text.TOO_LONG: (
        "這則訊息太長了：大約 {needed} 個 token，我最多能讀 {limit} 個。請分成幾段再傳。"
    ),
    Text.STORAGE_FAILED: "這段對話沒能存下來，我之後不會記得：{reason}。",
    Text.WAS_RESET: "我回答的時候這段對話被重設了，所以剛才那句就不算了。",
    Text.STOPPED: "已停止。",
    Text.BUSY: "我還有好幾則訊息沒回完，請稍等一下。",
    Text.LEFT_UNANSWERED: (
        "我剛才離線了一陣子，這裡有 {count} 則訊息沒有回覆。還需要我回的話，請再傳一次。"
    ),
    Text.LOST: "我剛才重新啟動，而這裡的訊息我不會寫下來，所以上一則沒能留住，請再傳一次。",
    Text.FAULT: "我這邊出了點問題，已經記錄下來了。",
    # While a tool runs
    Text.RUNS_NOW: "看一下時間",
    Text.RUNS_CHAT_HISTORY: "翻找之前的對話",
    Text.RUNS_REMEMBER: "記下這件事",
    Text.RUNS_FORGET_FACT: "把這件事忘掉",
    Text.RUNS_WRITE_ERROR: "記下這次的錯誤",
    Text.RUNS_ERROR_HISTORY: "查看之前的錯誤紀錄",
    # Commands, their groups and options, as they are listed
    Text.ABOUT_HELP: "顯示我會做的事",
    Text.ABOUT_START: "打個招呼",
    Text.ABOUT_NEW: "開始新的對話，不會刪除任何內容",
    Text.ABOUT_RESET: "刪除這段對話的訊息，會先確認",
    Text.ABOUT_RESET_WHAT: "all：連摘要與記憶一起清除；fresh：先更新摘要",
    Text.ABOUT_RESET_CONFIRM: "是的，請刪除",
    Text.ABOUT_STOP: "停止我正在寫的回覆",
    Text.ABOUT_STATUS: "顯示我的狀態與記得的內容",
    Text.ABOUT_WHOAMI: "顯示我用哪個代號認得你",
    Text.ABOUT_HISTORY: "查詢這裡以前說過的話",
    Text.ABOUT_HISTORY_QUERY: "要找的內容；加上引號就照字面找",
    Text.ABOUT_SUMMARY: "顯示我記得的對話重點",
    Text.ABOUT_SUMMARY_WHAT: "refresh：立刻更新摘要（限管理者）",
    Text.ABOUT_MEMORY: "我記得你的哪些事",
    Text.ABOUT_MEMORY_LIST: "列出我在這裡記得你的事",
    Text.ABOUT_MEMORY_SHOW: "顯示一則記憶和它的來源",
    Text.ABOUT_MEMORY_SEARCH: "搜尋我記得的事",
    Text.ABOUT_MEMORY_ADD: "要我記住一件事",
    Text.ABOUT_MEMORY_EDIT: "更正一則記憶",
    Text.ABOUT_MEMORY_DELETE: "刪除一則記憶和它的歷史",
    Text.ABOUT_MEMORY_PAUSE: "暫停或繼續記下新的事",
    Text.ABOUT_MEMORY_WHY: "顯示我上一則回覆參考了什麼",
    Text.ABOUT_MEMORY_ID: "記憶的編號",
    Text.ABOUT_MEMORY_TEXT: "要記住的內容，一句話",
    Text.ABOUT_MEMORY_SWITCH: "on 或 off",
    Text.ABOUT_MODE: "顯示或變更這段對話的記憶方式",
    Text.ABOUT_MODE_WHICH: "full、window 或 pools",
    Text.ABOUT_MODE_STORED: "不再使用的資料要保留（keep）還是清除（purge）",
    Text.ABOUT_MODE_SEED: "yes：把摘要裡的決定轉成長期記憶",
    Text.ABOUT_ADMIN: "管理者專用",
    Text.ABOUT_ADMIN_SESSIONS: "列出所有對話",
    Text.ABOUT_ADMIN_INSPECT: "顯示一段對話的概況",
    Text.ABOUT_ADMIN_RESET: "刪除一段對話的訊息，會先確認",
    Text.ABOUT_ADMIN_TARGET: "對話代號，可由 /admin sessions 查到",
    Text.ABOUT_ERRORS: "顯示工具出過的錯誤與解法",
    Text.ABOUT_ERRORS_WHAT: "remove：刪除這筆紀錄",
    Text.ABOUT_ERRORS_ID: "要顯示的紀錄代號，可由清單查到",
    # Any command
    Text.HELP: "直接跟我說話就好，我會記得我們聊過的事。可用的指令：",
    Text.YES: "是",
    Text.NO: "否",
    Text.NO_SUCH_COMMAND: "沒有 /{name} 這個指令。輸入 /help 可以看到全部。",
    Text.NOT_ALLOWED: "你不能在這裡使用這個機器人。",
    Text.ADMINS_ONLY: "只有管理者可以這麼做。",
    Text.ASK_ALONE: "在這裡回答會讓其他人看到，請私訊我再問一次。",
    Text.COMMAND_FAILED: "沒有成功：{reason}。",
    Text.COMMAND_BROKE: "這個指令出了問題，請稍後再試。",
    # /new, /stop, /reset
    Text.NEW_WINDOW: "新的對話開始了。沒有刪除任何內容，我整理過的摘要也都還在。",
    Text.STOPPING: "好，我停下來。",
    Text.NOTHING_TO_STOP: "我現在沒有在回覆。",
    Text.RESET_CONFIRM: (
        "這會永久刪除這段對話的 {count} 則訊息，摘要與長期記憶會保留。確定要做請輸入：/reset "
        "yes\n"
        "連摘要與長期記憶也一併清除：/reset all yes\n"
        "先更新摘要再清除：/reset fresh yes"
    ),
    Text.RESET_ALL_CONFIRM: (
        "這會永久刪除我對這段對話的所有記憶：{count} 則訊息、摘要與全部記下的事。"
        "確定要做請輸入：/reset all yes"
    ),
    Text.RESET_CALLED_OFF: "摘要沒能更新，所以沒有刪除任何內容，請稍後再試。",
    Text.WAS_CLEARED: "對話已重設（{count} 則訊息）。",
    Text.MEMORY_MESSAGES: "對話訊息",
    Text.MEMORY_SUMMARY: "摘要",
    Text.MEMORY_SHORT: "短期記憶",
    Text.MEMORY_LONG: "長期記憶",
    Text.CLEARED: "已清除",
    Text.KEPT: "保留",
    Text.ABSENT: "原本就沒有",
    # /status, /whoami
    Text.MODEL_IS: "語言模型：{model}",
    Text.REMEMBERED: "記得的訊息：{count} 則；摘要：{summary}",
    Text.NOTHING_REMEMBERED: "這段對話我還沒有記下任何內容。",
    Text.FACTS_STATUS: (
        "已記下的重點：近期 {short} 則、長期 {long} 則；還有 {waiting} 輪對話待整理。"
    ),
    Text.LOST_TURNS: "來不及整理就遺失的對話：{count} 輪。",
    Text.NOTING_IS_PAUSED: "目前暫停記錄重點。",
    Text.SEARCH_BY_WORDS: "搜尋：目前只能用關鍵字，語意搜尋的模型暫時無法使用。",
    Text.VECTORS_WAIT: "- 還在等待建立向量的訊息：{count}",
    Text.SERVICE_IS: "進行中的對話：{lanes}；待回覆：{inbox}；待送出：{outbox}",
    Text.WHO_YOU_ARE: (
        "你是 {name}（{person}）。這段對話的代號是 {session}，記憶模式為 {mode}。管理者：{admin}"
    ),
    # /history
    Text.HISTORY_OF_WHAT: "要找什麼呢？例如：/history 綠茶",
    Text.NOTHING_FOUND: "這裡找不到相關的內容。",
    Text.KEYWORD_ONLY: "（目前只能用關鍵字找：語意搜尋的模型暫時無法使用。）",
    # /summary
    Text.NO_SUMMARY: "這裡還沒有整理過摘要。",
    Text.SUMMARY_UNTIL: "到 {time} 為止，我記得的重點：",
    Text.SUMMARY_IS: "我記得的重點：",
    Text.SUMMARY_DECISIONS: "已經說定",
    Text.SUMMARY_EARLIER: "之前聊過",
    Text.SUMMARY_NOW: "目前話題",
    Text.SUMMARY_UP_TO_DATE: "摘要已經是最新的，這次新納入 {messages} 則訊息。",
    Text.SUMMARY_FAILED: "模型這次沒寫出可用的摘要，先保留原本的，之後會再試。",
    Text.SUMMARY_WITHOUT_MODEL: "我連不上負責寫摘要的模型，先保留原本的摘要。",
    Text.SUMMARY_MOVED: "這段對話剛剛有變動，先保留原本的摘要，請再試一次。",
    # /memory
    Text.FACTS_ARE: "共 {count} 則：",
    Text.NO_FACTS: "我在這裡還沒有記下任何事。",
    Text.NO_SUCH_FACT: "這裡沒有編號 {id} 的記憶。",
    Text.FACT_NEEDS_ID: "要哪一則？請給編號，/memory list 可以看到。",
    Text.FACT_NEEDS_TEXT: "請說明內容。",
    Text.FACT_ADDED: "已記下，編號 {id}：{text}",
    Text.FACT_CHANGED: "已更正 {id}：{text}",
    Text.FACT_DELETED: "已刪除 {id}，連同它取代的舊內容。",
    Text.FACT_SAID_BY: "{name} 說的，{day}",
    Text.FACT_FROM: "來源：{sources}",
    Text.FACT_BEFORE: "之前：{text}（{day}）",
    Text.FACT_LONG: "長期",
    Text.FACT_SHORT: "近期",
    Text.NOTING_PAUSED: "這段對話先不記新的事，直到 /memory pause off。",
    Text.NOTING_RESUMED: "我會繼續記下新的事。",
    Text.WHY_FACTS: "我上一則回覆看到了這些記憶：",
    Text.WHY_SNIPPETS: "以及 {count} 則先前的訊息。",
    Text.WHY_NOTHING: "我上一則回覆除了最近的訊息，沒有參考其他記憶。",
    # /mode
    Text.MODE_IS: (
        "這段對話的記憶方式是 {mode}。目前存有：{messages} 則訊息、{short} 則近期記憶、{long} "
        "則長期記憶，摘要：{summary}。"
    ),
    Text.MODE_CONFIRM_POOLS: (
        "pools 模式只保留重點記憶，不留對話紀錄。現有 {messages} 則訊息和摘要（有摘要："
        "{summary}）之後不會再使用。請選擇：/mode pools keep 保留，或 /mode pools purge "
        "永久刪除。加上 yes 可把摘要中的決定轉成長期記憶。"
    ),
    Text.MODE_CONFIRM_WINDOW: (
        "window 模式只用最近的訊息和摘要，不記重點。現有 {short} 則近期和 {long} "
        "則長期記憶之後不會再使用：/mode window keep 保留，或 /mode window purge 永久刪除。"
    ),
    Text.MODE_CONFIRM_FULL: (
        "full 模式會把這段對話的每則訊息和重點都存在磁碟上。pools 模式期間說過的話不在其中，"
        "也不會回來。要繼續請輸入：/mode full keep"
    ),
    Text.MODE_SWITCHED: (
        "從現在起記憶方式是 {mode}。已刪除：{messages} 則訊息、{facts} 則記憶，摘要："
        "{summary}。保留：{kept_messages} 則訊息、{kept_facts} 則記憶。"
    ),
    Text.MODE_SEEDED: "從摘要轉入：{count} 則。",
    # /admin
    Text.SESSIONS_ARE: "對話共 {count} 段，最近使用的 {shown} 段：",
    Text.NO_SUCH_SESSION: "沒有代號為 {target!r} 的對話，可用 /admin sessions 列出。",
    Text.ADMIN_RESET_CONFIRM: (
        "這會永久刪除那段對話的 {count} 則訊息。確定要做請輸入：/admin reset {given} yes"
    ),
    Text.NO_ERRORS: "目前沒有工具錯誤的紀錄。",
    Text.ERROR_REMOVED: "已刪除：{id}",
    Text.ERROR_NEEDS_ID: "要刪除哪一筆？請給紀錄代號。",
    Text.NO_SUCH_ERROR: "找不到唯一的紀錄 {id!r}。",
}
