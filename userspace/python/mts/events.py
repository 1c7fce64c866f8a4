# SPDX-License-Identifier: GPL-2.0
"""The module's events, as mtsctl watch prints them."""

import logging
import subprocess
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType

from mts import errors, load
from mts.records import Event

log = logging.getLogger("mts")


class EventStream(Iterator[Event]):
    """Events, until it is closed.

    It watches from the moment at which it is made. What mtsctl has to say meanwhile, as that events
    were lost, is logged as warnings of the logger "mts". When the module is unloaded the iteration
    ends with NotLoadedError.

    It ends cleanly by close(), at the end of a with statement, and when nobody refers to it any
    more: mtsctl has ended then, and has removed its tracefs instance.
    """

    def __init__(self, command: Sequence[str]):
        self._command = command
        self._said: list[str] = []
        self._closed = False
        self._process: subprocess.Popen[str] | None = None
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        # Not a method: a thread that refers to the stream would keep it.
        self._listener = threading.Thread(
            target=listen, args=(self._process, self._said), name="mts-events", daemon=True
        )
        self._listener.start()

    def __iter__(self) -> "EventStream":
        return self

    def __next__(self) -> Event:
        if self._closed or not self._process or not self._process.stdout:
            raise StopIteration
        line = self._process.stdout.readline()
        if line:
            return load.record(Event, line)
        status = self._end()
        if status:
            raise errors.of_tool("\n".join(self._said[-1:]), status, self._command)
        raise StopIteration

    def close(self) -> None:
        """End mtsctl. Further iteration stops at once."""
        if not self._closed and self._process:
            self._process.terminate()
            self._end()

    def _end(self) -> int:
        """Read what is left, so that mtsctl does not wait for a reader. Return: its status."""
        assert self._process
        self._closed = True
        if self._process.stdout:
            while self._process.stdout.read(1 << 16):
                pass
            self._process.stdout.close()
        status = self._process.wait()
        self._listener.join()
        return status

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None):
            self.close()


def listen(process: subprocess.Popen[str], said: list[str]) -> None:
    """Log what mtsctl says, and keep the end of it."""
    assert process.stderr
    with process.stderr as lines:
        for line in lines:
            log.warning("%s", line.rstrip("\n").removeprefix("mtsctl: "))
            said.append(line)
            del said[:-10]
