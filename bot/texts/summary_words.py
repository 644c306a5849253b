"""What Kith says about a summary, in each of its languages."""

from dataclasses import dataclass
from datetime import tzinfo

from bot.texts.words import Language
from memory.language.times import format_second
from memory.summary.rolling import SummaryView
from memory.summary.run import Ended, SummaryRun
from memory.summary.value import Current, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    nothing: str
    covers: str
    unknown_reach: str
    decisions: str
    earlier: str
    now: str
    up_to_date: str
    failed: str
    no_model: str
    moved: str


_LABELS = {
    Language.ENGLISH: _Labels(
        nothing="I have not summarised anything here yet.",
        covers="What I keep in mind of our talk up to {time}:",
        unknown_reach="What I keep in mind of our talk:",
        decisions="Settled",
        earlier="Talked about before",
        now="Now",
        up_to_date="The summary is up to date; newly covered messages: {messages}.",
        failed="My model gave no usable summary, so the old one stays. I will try again later.",
        no_model="I cannot reach the model that writes summaries. The old one stays.",
        moved="This conversation changed meanwhile, so the old summary stays. Please try again.",
    ),
    Language.CHINESE: _Labels(
        nothing="這裡還沒有整理過摘要。",
        covers="到 {time} 為止，我記得的重點：",
        unknown_reach="我記得的重點：",
        decisions="已經說定",
        earlier="之前聊過",
        now="目前話題",
        up_to_date="摘要已經是最新的，這次新納入 {messages} 則訊息。",
        failed="模型這次沒寫出可用的摘要，先保留原本的，之後會再試。",
        no_model="我連不上負責寫摘要的模型，先保留原本的摘要。",
        moved="這段對話剛剛有變動，先保留原本的摘要，請再試一次。",
    ),
}


def view_told(view: SummaryView, language: Language, zone: tzinfo | None) -> str:
    """A summary, for people: prose and lists, never its JSON."""
    labels = _LABELS[language]
    if not view.summary:
        return labels.nothing
    head = labels.unknown_reach
    if view.covered_until_ns is not None:
        head = labels.covers.format(time=format_second(view.covered_until_ns, zone))
    return "\n".join([head, *_sections(view.summary, labels)])


def run_told(run: SummaryRun, language: Language) -> str:
    """How bringing it up to date went."""
    labels = _LABELS[language]
    told = {Ended.FAILED: labels.failed, Ended.NO_MODEL: labels.no_model, Ended.MOVED: labels.moved}
    return told.get(run.ended) or labels.up_to_date.format(messages=run.messages + run.noise)


def _sections(summary: Summary, labels: _Labels) -> list[str]:
    lines: list[str] = []
    if summary.key_decisions:
        lines += ["", f"{labels.decisions}:", *(f"- {text}" for text in summary.key_decisions)]
    if summary.past_discussions:
        lines += ["", f"{labels.earlier}:"]
        for topic in summary.past_discussions:
            when = f" ({topic.last_discussed})" if topic.last_discussed else ""
            rest = _joined(topic.description, topic.direction)
            lines.append(f"- {topic.topic}{when}{': ' if rest else ''}{rest}")
    current = summary.current_discussion
    if current != Current():
        rest = _joined(current.description, current.perspectives, current.direction)
        lines += ["", f"{labels.now}: {_joined(current.topic, rest)}"]
    return lines


def _joined(*parts: str) -> str:
    return " · ".join(part for part in dict.fromkeys(parts) if part)
