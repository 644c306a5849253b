"""How one Discord bot is connected."""

from dataclasses import dataclass

from bot.ports import Platform, Secret

DISCORD = Platform("discord")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscordOptions:
    """Settings of the adapter, each with its unit and its reason."""

    token: Secret
    chatter: bool = False
    """Whether messages that do not address the bot are handed in too (`addressed` is then false)."""
    catch_up_age_s: float = 86_400.0
    """After downtime, messages older than this are left alone. Delivery decides about the rest."""
    catch_up_limit: int = 200
    """Most messages read back in one channel, newest kept: two requests of Discord's 100."""
    catch_up_channels: int = 200
    """Most channels read back, the latest active first: bounds the requests of one start."""
    catch_up_deadline_s: float = 60.0
    """New messages wait for the missed ones, but not longer than this."""
    rate_limit_wait_s: float = 30.0
    """Longer rate limits are handed back as deferred. 30 is the smallest that discord.py takes."""
    guild_ready_timeout_s: float = 2.0
    """How long Discord may stay silent before its list of servers counts as complete (discord.py's
    own default). Missed messages are read after that."""
    heartbeat_timeout_s: float = 60.0
    """Silence of the gateway after which the connection counts as dead (discord.py's default)."""
    identify_pause_s: float = 5.0
    """Pause before a new session replaces a lost one: Discord allows one in 5 s."""
    api_url: str | None = None
    """Another REST endpoint than Discord's, for tests: `http://127.0.0.1:1234/api/v10`."""
    gateway_url: str | None = None
    """Another gateway; None with an `api_url`: the same host's `/gateway`."""
