# SPDX-License-Identifier: GPL-2.0
"""The result files that SPEC's tools write.

Raw files (.raw of CPU2000, .rsf since CPU2006) have one field a line:

    spec.cpu2006.results.401_bzip2.base.000.reported_time: 512.3
    spec.cpu2006.results.401_bzip2.base.000.ratio: 18.8
    spec.cpu2006.results.401_bzip2.base.000.valid: S

with 000, 001... for the iterations. Of the lines before them, such as encoded attachments and
the system's description, nothing is needed. CSV files have a "Full Results Table" whose header
names its columns; a run that is not reportable has "Est. " before some of them.

valid is S for success; otherwise two letters say what failed (CE: compiling, RE: running, VE:
the output was wrong, NR: not run).
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_RAW = re.compile(
    r"spec\.cpu(?:2000|2006|2017)\.results\.(\d{3}_\w+)\.(base|peak)\.(\d{3})\."
    r"(benchmark|reported_time|ratio|valid): *(.*)"
)
_REPORT = re.compile(r"->\s*(\S+\.(?:rsf|raw|csv))\b")
_LOG = re.compile(r"[Tt]he log for this run is in (\S+)/(\S+)\.(\d+)\.log")


@dataclass(frozen=True)
class Measured:
    """One iteration of one benchmark."""

    benchmark: str  # 401.bzip2
    tune: str
    seconds: float | None  # None: there was no time to report
    ratio: float | None  # to SPEC's reference machine; test and train have none
    status: str  # S: success


def parse_raw(text: str) -> list[Measured]:
    """The iterations in a raw file, in their order."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for line in text.splitlines():
        if match := _RAW.fullmatch(line.strip()):
            found.setdefault((match[1], match[2], match[3]), {})[match[4]] = match[5].strip()
    return [
        Measured(
            fields.get("benchmark") or name.replace("_", ".", 1),
            tune,
            _number(fields.get("reported_time")),
            _number(fields.get("ratio")),
            _status(fields.get("valid", "")),
        )
        for (name, tune, _), fields in sorted(found.items())
    ]


def parse_csv(text: str) -> list[Measured]:
    """The iterations in a CSV file's table of all results."""
    measured = []
    header: list[str] = []
    inside = False
    for row in csv.reader(text.splitlines()):
        if row == ["Full Results Table"]:
            inside = True
        elif inside and row and row[0] == "Benchmark":
            header = [name.removeprefix("Est. ") for name in row]
        elif header and row and re.fullmatch(r"\d{3}\.\w+", row[0]):
            measured += _csv_row(dict(zip(header, row, strict=False)))
        elif header:
            break  # the table's end
    return measured


def _csv_row(row: dict[str, str]) -> list[Measured]:
    found = []
    for tune in ("Base", "Peak"):
        status = row.get(f"{tune} Status", "")
        if status and status != "NR":
            score = row.get(f"{tune} Ratio") or row.get(f"{tune} Rate")
            seconds = _number(row.get(f"{tune} Run Time"))
            found.append(
                Measured(row["Benchmark"], tune.lower(), seconds, _number(score), _status(status))
            )
    return found


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None  # "--" and the like


def _status(text: str) -> str:
    # CPU2000 says 1 where later ones say S
    return "S" if text in ("S", "1") else text or "?"


def result_files(log: str, result: Path) -> list[Path]:
    """The raw and CSV files of a run, from what the tool printed; raw ones first.

    The tools name each file as they write it ("format: raw -> /spec/result/CINT2006.003.rsf").
    If they did not, it is the files of the log's number in the result directory.
    """
    found = [Path(name) for name in _REPORT.findall(log)]
    if not found and (match := _LOG.search(log)):
        number = match[3]
        directory = Path(match[1]) if Path(match[1]).is_dir() else result
        found = [
            path
            for suffix in ("rsf", "raw", "csv")
            for path in sorted(directory.glob(f"*.{number}.*{suffix}"))
        ]
    there = [path for path in found if path.is_file()]
    return sorted(dict.fromkeys(there), key=lambda path: path.suffix == ".csv")


def read(files: Sequence[Path]) -> list[Measured]:
    """The contents of the first file with results: all files of a run have the same ones."""
    for path in files:
        text = path.read_text(errors="replace")
        measured = parse_csv(text) if path.suffix == ".csv" else parse_raw(text)
        if measured:
            return measured
    return []
