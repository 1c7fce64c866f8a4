# SPDX-License-Identifier: GPL-2.0
"""What goes wrong: the message of mtsctl, and its exit status."""

from collections.abc import Sequence


class MtsError(Exception):
    """A request failed, and nothing has changed.

    message is what mtsctl said, without "mtsctl: "; status its exit status; command its words.
    """

    def __init__(self, message: str, status: int, command: Sequence[str] = ()):
        super().__init__(message)
        self.message = message
        self.status = status
        self.command = tuple(command)


class UsageError(MtsError):
    """An argument is wrong: status 2."""


class NotLoadedError(MtsError):
    """The module is not loaded, and no mtsd answers: status 3."""


class NotPermittedError(MtsError):
    """It takes more rights than this process has: status 4."""


class NotStartedError(MtsError):
    """No job was made, and the command was not run: status 125."""


class ProtocolError(MtsError):
    """Another version of mtsctl: its schema_version is not ours, or a field is missing."""


class NotFoundError(MtsError):
    """There is no mtsctl on this host: status 127."""


KINDS: dict[int, type[MtsError]] = {
    2: UsageError,
    3: NotLoadedError,
    4: NotPermittedError,
    125: NotStartedError,
}


def of_tool(said: str, status: int, command: Sequence[str]) -> MtsError:
    """The exception for an exit status, with what mtsctl wrote on standard error."""
    lines = [line.removeprefix("mtsctl: ") for line in said.strip().splitlines()]
    message = "\n".join(lines) or f"mtsctl ended with status {status}, and said nothing"
    return KINDS.get(status, MtsError)(message, status, command)
