"""Everything `kith doctor` looks at, the platforms and models included."""

from collections.abc import Iterator
from dataclasses import astuple

from bot.access.access import Access
from bot.app.model_choice import AUTO, NoDownloads, model_servers, parse_chat
from bot.app.platforms import access_settings, no_platform, platform_tokens
from bot.config.access_settings import AccessSettings
from bot.config.config import Loaded
from bot.errors import AdapterError, ConfigError, LoginRefused, ServiceNotRunning
from bot.manifests import Finding, Level
from bot.ports import Platform, Secret
from bot.service.control import ask_service
from bot.service.doctor import (
    access_findings,
    clock_finding,
    config_used,
    database_findings,
    file_findings,
    nobody_may_speak,
    unit_findings,
)
from memory.errors import KithError
from memory.ports import Clock


async def examine_all(loaded: Loaded, clock: Clock, *, offline: bool) -> list[Finding]:
    """Every finding, in the order in which an operator would look."""
    findings = [config_used(loaded), *file_findings(loaded)]
    findings += await database_findings(loaded.data_dir)
    findings.append(clock_finding(clock, str(loaded.zone or "of the machine")))
    findings += await _platforms(loaded, offline=offline)
    findings.append(await _model(loaded, offline=offline))
    findings += unit_findings(loaded)
    findings.append(await _running(loaded))
    return findings


async def _platforms(loaded: Loaded, *, offline: bool) -> list[Finding]:
    try:
        tokens = platform_tokens(loaded)
    except ConfigError as error:
        return [Finding(check="tokens", level=Level.FAILED, what=str(error))]
    if not tokens:
        first, _, fix = no_platform(loaded.manifests).partition(". ")
        return [Finding(check="tokens", level=Level.FAILED, what=first, fix=fix)]
    findings: list[Finding] = []
    for platform, token in tokens.items():
        if offline:
            what = "there is a token; not tried, as asked"
            findings.append(Finding(check=platform, level=Level.SKIPPED, what=what))
        else:
            findings += await _platform(platform, token, loaded)
    return findings + list(_access(loaded, tokens))


def _access(loaded: Loaded, tokens: dict[Platform, Secret]) -> Iterator[Finding]:
    used = {one: rules for one, rules in access_settings(loaded).items() if one in tokens}
    closed = [one for one, rules in used.items() if _is_closed(rules)]
    access = Access(used, known=loaded.manifests.platforms)
    yield from access_findings(access, speaks=[one for one in used if one not in closed])
    yield from (nobody_may_speak(platform) for platform in closed)


def _is_closed(rules: AccessSettings) -> bool:
    return not any(astuple(rules.allow)) and not rules.admins


async def _platform(platform: Platform, token: Secret, loaded: Loaded) -> list[Finding]:
    check = loaded.manifests.connectors[platform].check
    try:
        return await check(loaded.config.platform(platform), token)
    except LoginRefused as error:
        return [Finding(check=platform, level=Level.FAILED, what=str(error))]
    except AdapterError as error:
        fix = "check this machine's connection to the internet"
        return [Finding(check=platform, level=Level.FAILED, what=str(error), fix=fix)]


async def _model(loaded: Loaded, *, offline: bool) -> Finding:
    """What is to be said of the chat model; for `auto`, of the first server that has one."""
    try:
        choice = parse_chat(loaded.config.models.chat, "models.chat", loaded.manifests)
        servers = model_servers(loaded, NoDownloads())
    except ConfigError as error:
        return Finding(check="model", level=Level.FAILED, what=str(error))
    candidates = servers if choice.scheme == AUTO else {choice.scheme: servers[choice.scheme]}
    for scheme, server in candidates.items():
        if offline and loaded.manifests.servers[scheme].remote:
            what = f"{scheme.capitalize()} not asked, as wished"
            return Finding(check="model", level=Level.SKIPPED, what=what)
        finding = await server.check(choice.name)
        if finding.level is not Level.FAILED:
            break
    return finding


async def _running(loaded: Loaded) -> Finding:
    try:
        status = await ask_service(loaded.data_dir, "status")
    except ServiceNotRunning:
        return Finding(check="service", level=Level.OK, what="not running", fix="kith run")
    except KithError as error:
        return Finding(check="service", level=Level.WARNING, what=str(error))
    return Finding(check="service", level=Level.OK, what=f"running, process {status['pid']}")
