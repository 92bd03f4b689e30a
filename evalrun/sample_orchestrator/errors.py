"""What can go wrong in Ori, by name.

OriError
├── BadSettings       a setting that cannot work
├── UnknownUser       an event for somebody who never wrote
├── UnknownEvent      an event nobody declared
├── ToolRefused       a tool was called with arguments it must not accept
├── SendFailed        the channel did not take a message
├── ModelFailed       the model gave no answer
├── NoDatabase        there is no Postgres to keep a chat in
└── FixtureRefused    an arrangement names something that does not exist
"""


class OriError(Exception):
    """Anything Ori raises on purpose."""


class BadSettings(OriError):
    """A setting that cannot work."""


class UnknownUser(OriError):
    """An event or a question about somebody who never wrote."""


class UnknownEvent(OriError):
    """An event that no module of `events` declares."""


class ToolRefused(OriError):
    """A tool was called with arguments it must not accept."""


class ModelFailed(OriError):
    """The model gave no answer, or none that can be read."""


class NoDatabase(OriError):
    """There is no Postgres to keep a chat in, and none could be started."""


class FixtureRefused(OriError):
    """An arrangement names a field or a value that does not exist."""


class SendFailed(OriError):
    """The channel did not take a message.

    `certain` says that the message surely did not arrive, so that sending it again cannot double it;
    `final` that sending it again is of no use. `status` is the HTTP status, `code` the channel's own.
    """

    def __init__(self, message: str, *, certain: bool, final: bool = False, status: int = 0, code: int = 0) -> None:
        super().__init__(message)
        self.certain = certain
        self.final = final
        self.status = status
        self.code = code
