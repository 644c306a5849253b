"""What can go wrong inside memory, as one tree.

    KithError                       every error of ours, here and in bot.errors
    ├── StoreError                  the database said no
    │   ├── StorageFull             no space left on the disk
    │   ├── StorageCorrupt          the file is not, or is no longer, a sound database
    │   ├── StorageBusy             another process holds the database
    │   └── SchemaTooNew            written by a later version of Kith
    ├── SessionMoved                the session was reset while the work was under way
    ├── PromptTooLong               the input alone does not fit the model's context
    ├── EntryInvalid                a pool entry that a person wrote says nothing
    ├── NoSuchRecord                an id names no record, or more than one
    ├── BackdropUnreadable          SOUL.md or MEMORY.md cannot be used as it stands
    └── ModelError                  the model did not give a usable answer
        ├── ModelUnreachable        no server there, or it hung up
        ├── ModelMissing            the server runs and has no model of that name
        ├── ModelTimedOut           it was reached and stayed silent for too long
        ├── ModelRefused            it was reached and rejected the request
        └── ModelAnswerInvalid      it answered, with something that cannot be used

Messages say what to do next and never hold what a person said.
"""


class KithError(Exception):
    """Every error of ours."""


class StoreError(KithError):
    """The database could not do it; nothing of the unit of work was kept."""


class StorageFull(StoreError):
    """No space left on the disk."""


class StorageCorrupt(StoreError):
    """The file is not, or is no longer, a sound database."""


class StorageBusy(StoreError):
    """Another process holds the database."""


class SchemaTooNew(StoreError):
    """The database was written by a later version of Kith."""


class SessionMoved(KithError):
    """The session was reset or removed while the work was under way: the work is dropped."""


class PromptTooLong(KithError):
    """The input alone does not fit into the model's context."""

    def __init__(self, *, needed_tokens: int, limit_tokens: int) -> None:
        super().__init__(f"the message is too long: about {needed_tokens} of {limit_tokens} tokens")
        self.needed_tokens = needed_tokens
        self.limit_tokens = limit_tokens


class EntryInvalid(KithError):
    """A pool entry that a person wrote says nothing."""


class NoSuchRecord(KithError):
    """An id names no record, or more than one."""


class BackdropUnreadable(KithError):
    """`SOUL.md` or `MEMORY.md` cannot be used as it stands."""


class ModelError(KithError):
    """The model did not give a usable answer."""


class ModelUnreachable(ModelError):
    """There is no model server at that address, or it hung up in the middle."""


class ModelMissing(ModelError):
    """There is no model of that name."""


class ModelTimedOut(ModelError):
    """The model was reached and stayed silent for too long."""


class ModelRefused(ModelError):
    """The model server rejected the request."""


class ModelAnswerInvalid(ModelError):
    """The model answered with something that cannot be used."""
