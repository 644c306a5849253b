"""Everything `kith doctor` looks at, the platforms and models included."""

from collections.abc import Iterator
from dataclasses import astuple

from adapters.discord.adapter import open_discord
from adapters.discord.check import check as check_discord
from adapters.embedded.store import Store
from adapters.embedded.weights import find
from adapters.ollama.connection import installed
from adapters.telegram.adapter import open_telegram
from bot.access.access import Access
from bot.app.model_choice import AUTO, OLLAMA, parse
from bot.app.platforms import (
    NO_PLATFORM,
    access_settings,
    discord_options,
    platform_tokens,
    telegram_options,
)
from bot.config.access_settings import AccessSettings
from bot.config.config import Loaded
from bot.errors import AdapterError, ConfigError, LoginRefused, ServiceNotRunning
from bot.ports import CommandAnswer, CommandCall, Platform, Secret
from bot.service.control import ask_service
from bot.service.doctor import (
    Finding,
    Level,
    access_findings,
    clock_finding,
    config_used,
    database_findings,
    file_findings,
    nobody_may_speak,
    unit_findings,
)
from memory.errors import KithError, ModelError
from memory.ports import Clock


async def examine_all(loaded: Loaded, clock: Clock, *, offline: bool) -> list[Finding]:
    """Every finding, in the order in which an operator would look."""
    findings = [config_used(loaded), *file_findings(loaded)]
    findings += await database_findings(loaded.data_dir)
    findings.append(clock_finding(clock, str(loaded.zone or "of the machine")))
    findings += await _platforms(loaded, offline=offline)
    findings += await _model(loaded, offline=offline)
    findings += unit_findings(loaded)
    findings.append(await _running(loaded))
    return findings


async def _platforms(loaded: Loaded, *, offline: bool) -> list[Finding]:
    try:
        tokens = platform_tokens(loaded)
    except ConfigError as error:
        return [Finding(check="tokens", level=Level.FAILED, what=str(error))]
    if not tokens:
        first, _, fix = NO_PLATFORM.partition(". ")
        return [Finding(check="tokens", level=Level.FAILED, what=first, fix=fix)]
    findings: list[Finding] = []
    for platform, token in tokens.items():
        if offline:
            what = "there is a token; not tried, as asked"
            findings.append(Finding(check=platform.value, level=Level.SKIPPED, what=what))
        else:
            findings += await _platform(platform, token, loaded)
    return findings + list(_access(loaded, tokens))


def _access(loaded: Loaded, tokens: dict[Platform, Secret]) -> Iterator[Finding]:
    used = {one: rules for one, rules in access_settings(loaded.config).items() if one in tokens}
    closed = [one for one, rules in used.items() if _is_closed(rules)]
    yield from access_findings(Access(used), speaks=[one for one in used if one not in closed])
    yield from (nobody_may_speak(platform.value) for platform in closed)


def _is_closed(rules: AccessSettings) -> bool:
    return not any(astuple(rules.allow)) and not rules.admins


async def _platform(platform: Platform, token: Secret, loaded: Loaded) -> list[Finding]:
    look = _telegram if platform is Platform.TELEGRAM else _discord
    try:
        return await look(token, loaded)
    except LoginRefused as error:
        return [Finding(check=platform.value, level=Level.FAILED, what=str(error))]
    except AdapterError as error:
        fix = "check this machine's connection to the internet"
        return [Finding(check=platform.value, level=Level.FAILED, what=str(error), fix=fix)]


async def _telegram(token: Secret, loaded: Loaded) -> list[Finding]:
    options = telegram_options(loaded.config, token)
    async with open_telegram(options, intake=_Closed()) as adapter:
        facts = await adapter.facts()
    findings = [
        Finding(check="telegram", level=Level.OK, what=f"the token is that of @{facts.username}")
    ]
    if not facts.reads_all_group_messages:
        findings.append(
            Finding(
                check="telegram",
                level=Level.WARNING,
                what="privacy mode is on: in groups the bot sees only commands and replies to it",
                fix="for groups: @BotFather, /setprivacy, Disable; then remove the bot from each"
                " group and add it again",
            )
        )
    return findings


async def _discord(token: Secret, loaded: Loaded) -> list[Finding]:
    options = discord_options(loaded.config, token)
    closed = _Closed()
    async with open_discord(options, intake=closed, door=closed, specs=(), clock=closed):
        facts = await check_discord(options)
    invite = f"invite it with: {facts.invite_url}"
    findings = [
        Finding(
            check="discord", level=Level.OK, what=f"the token is that of {facts.name}", fix=invite
        )
    ]
    if not facts.reads_messages:
        findings.append(
            Finding(
                check="discord",
                level=Level.FAILED,
                what="the bot may not read messages: Message Content Intent is off",
                fix="https://discord.com/developers/applications, your bot, Bot > Privileged"
                " Gateway Intents > Message Content Intent",
            )
        )
    return findings


class _Closed:
    """Stands where an adapter that only looks has nobody to hand anything to."""

    async def accept(self, inbounds: object, **_more: object) -> None:
        """Take nothing."""

    async def positions(self, _platform: Platform, _bot: str) -> dict[str, str]:
        """Know nothing."""
        return {}

    async def moved(self, _old: object, _new: object) -> None:
        """Note nothing."""

    async def edited(self, inbound: object) -> None:
        """Change nothing."""

    async def deleted(self, chat: object, messages: object) -> None:
        """Forget nothing."""

    async def run(self, _call: CommandCall) -> CommandAnswer:
        """Do nothing."""
        return CommandAnswer(text="")

    def now_ns(self) -> int:
        """No time passes for one that only looks."""
        return 0


async def _model(loaded: Loaded, *, offline: bool) -> list[Finding]:
    try:
        choice = parse(loaded.config.models.chat, "models.chat")
    except ConfigError as error:
        return [Finding(check="model", level=Level.FAILED, what=str(error))]
    if choice.provider not in (AUTO, OLLAMA):
        return [_embedded(loaded, choice.name)]
    if offline:
        return [Finding(check="model", level=Level.SKIPPED, what="Ollama not asked, as wished")]
    wanted = choice.name or loaded.config.ollama.model
    ollama = await _ollama(loaded, wanted)
    if choice.provider == AUTO and ollama.level is Level.FAILED:
        return [_embedded(loaded, loaded.config.embedded.model)]
    return [ollama]


async def _ollama(loaded: Loaded, wanted: str) -> Finding:
    settings = loaded.config.ollama
    token = loaded.secret("ollama-token")
    try:
        models = await installed(
            settings.url, timeout_s=settings.connect_s, token=token.reveal() if token else None
        )
    except ModelError as error:
        fix = "start it with: ollama serve; or set ollama.url"
        return Finding(check="model", level=Level.FAILED, what=str(error), fix=fix)
    names = [model.name for model in models]
    if not names or (wanted and not {wanted, f"{wanted}:latest"} & set(names)):
        return Finding(
            check="model",
            level=Level.FAILED,
            what=f"Ollama at {settings.url} does not have {wanted or 'any model'}",
            fix=f"ollama pull {wanted or 'qwen3:8b'}",
        )
    return Finding(check="model", level=Level.OK, what=f"ollama:{wanted or names[0]}")


def _embedded(loaded: Loaded, name: str) -> Finding:
    store = Store(models_dir=loaded.models_dir)
    try:
        weights = find(name)
    except KithError as error:
        return Finding(check="model", level=Level.FAILED, what=str(error))
    if store.has(weights):
        return Finding(check="model", level=Level.OK, what=f"embedded:{weights.name}")
    return Finding(
        check="model",
        level=Level.WARNING,
        what=f"the embedded model {weights.title} is not here yet; it is fetched at the start",
        fix=f"kith model get {weights.name}",
    )


async def _running(loaded: Loaded) -> Finding:
    try:
        status = await ask_service(loaded.data_dir, "status")
    except ServiceNotRunning:
        return Finding(check="service", level=Level.OK, what="not running", fix="kith run")
    except KithError as error:
        return Finding(check="service", level=Level.WARNING, what=str(error))
    return Finding(check="service", level=Level.OK, what=f"running, process {status['pid']}")
