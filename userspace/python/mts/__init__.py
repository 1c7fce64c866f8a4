# SPDX-License-Identifier: GPL-2.0
"""The medium-term scheduler mts, from Python: jobs take turns in memory.

The functions of this module ask the scheduler that mtsctl chooses; Client asks one of several.
docs/python.md is the reference. Each call runs mtsctl, and speaks its JSON.
"""

from mts.client import Client
from mts.errors import (
    MtsError,
    NotFoundError,
    NotLoadedError,
    NotPermittedError,
    NotStartedError,
    ProtocolError,
    UsageError,
)
from mts.events import EventStream
from mts.load import SCHEMA_VERSION
from mts.membership import Membership
from mts.records import Config, Doctor, Event, Job, Plan, Stats, Status, Why

_client = Client()

add = _client.add
config = _client.config
configure = _client.configure
doctor = _client.doctor
events = _client.events
job = _client.job
jobs = _client.jobs
pause = _client.pause
pin = _client.pin
plan = _client.plan
remove = _client.remove
run = _client.run
start = _client.start
stats = _client.stats
status = _client.status
thaw = _client.thaw
unpin = _client.unpin
weigh = _client.weigh
weigh_user = _client.weigh_user
why = _client.why

__all__ = [
    "SCHEMA_VERSION",
    "Client",
    "Config",
    "Doctor",
    "Event",
    "EventStream",
    "Job",
    "Membership",
    "MtsError",
    "NotFoundError",
    "NotLoadedError",
    "NotPermittedError",
    "NotStartedError",
    "Plan",
    "ProtocolError",
    "Stats",
    "Status",
    "UsageError",
    "Why",
    "add",
    "config",
    "configure",
    "doctor",
    "events",
    "job",
    "jobs",
    "pause",
    "pin",
    "plan",
    "remove",
    "run",
    "start",
    "stats",
    "status",
    "thaw",
    "unpin",
    "weigh",
    "weigh_user",
    "why",
]
