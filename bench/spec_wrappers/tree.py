# SPDX-License-Identifier: GPL-2.0
"""A SPEC CPU tree as its installer lays it out, of CPU2000, CPU2006 or CPU2017.

    $SPEC_DIR/shrc                     sets the environment; bin/runspec or bin/runcpu
    $SPEC_DIR/config/NAME.cfg          the user's configuration
    $SPEC_DIR/benchspec/.../164.gzip/  a benchmark; exe/ below it has what was built
    $SPEC_DIR/result/                  what the tools write

The sources are SPEC's own documents: "Using SPEC CPU: the runspec command" (CPU2000, CPU2006),
"Using SPEC CPU2017: the runcpu command", and the installation guides.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from bench.lab import LabError


@dataclass(frozen=True)
class Generation:
    """One of the three suites."""

    name: str
    tool: str  # below bin/
    places: tuple[str, ...]  # of benchmarks, below benchspec/
    benchmarks: str  # their names, in their order


CPU2000 = Generation(
    "CPU2000",
    "runspec",
    ("CINT2000", "CFP2000"),
    """164.gzip 175.vpr 176.gcc 181.mcf 186.crafty 197.parser 252.eon 253.perlbmk 254.gap
    255.vortex 256.bzip2 300.twolf 168.wupwise 171.swim 172.mgrid 173.applu 177.mesa 178.galgel
    179.art 183.equake 187.facerec 188.ammp 189.lucas 191.fma3d 200.sixtrack 301.apsi""",
)
CPU2006 = Generation(
    "CPU2006",
    "runspec",
    ("CPU2006",),
    """400.perlbench 401.bzip2 403.gcc 429.mcf 445.gobmk 456.hmmer 458.sjeng 462.libquantum
    464.h264ref 471.omnetpp 473.astar 483.xalancbmk 410.bwaves 416.gamess 433.milc 434.zeusmp
    435.gromacs 436.cactusADM 437.leslie3d 444.namd 447.dealII 450.soplex 453.povray 454.calculix
    459.GemsFDTD 465.tonto 470.lbm 481.wrf 482.sphinx3""",
)
CPU2017 = Generation(
    "CPU2017",
    "runcpu",
    ("CPU",),
    """500.perlbench_r 502.gcc_r 505.mcf_r 520.omnetpp_r 523.xalancbmk_r 525.x264_r
    531.deepsjeng_r 541.leela_r 548.exchange2_r 557.xz_r 503.bwaves_r 507.cactuBSSN_r 508.namd_r
    510.parest_r 511.povray_r 519.lbm_r 521.wrf_r 526.blender_r 527.cam4_r 538.imagick_r
    544.nab_r 549.fotonik3d_r 554.roms_r 600.perlbench_s 602.gcc_s 605.mcf_s 620.omnetpp_s
    623.xalancbmk_s 625.x264_s 631.deepsjeng_s 641.leela_s 648.exchange2_s 657.xz_s 603.bwaves_s
    607.cactuBSSN_s 619.lbm_s 621.wrf_s 627.cam4_s 628.pop2_s 638.imagick_s 644.nab_s
    649.fotonik3d_s 654.roms_s""",
)
GENERATIONS = (CPU2000, CPU2006, CPU2017)


@dataclass(frozen=True)
class Tree:
    """A SPEC tree that was looked at and found to be one."""

    path: Path
    generation: Generation

    def benchmark(self, program: str) -> str:
        """The full name, 164.gzip, of what a mix calls gzip or 164.gzip.

        In CPU2017 a name without _r or _s is the rate version, which runs as one process.
        """
        known = self.generation.benchmarks.split()
        short = {name.partition(".")[2]: name for name in known}
        for names in ({name: name for name in known}, short):
            for key in (program, f"{program}_r"):
                if key in names:
                    return names[key]
        raise LabError(
            f"SPEC {self.generation.name} has no benchmark {program}; it has: "
            + " ".join(sorted(short))
        )

    def directory(self, benchmark: str) -> Path:
        """Where a benchmark lies."""
        for place in self.generation.places:
            path = self.path / "benchspec" / place / benchmark
            if path.is_dir():
                return path
        raise LabError(
            f"{self.path}: {benchmark} is not installed (no benchspec/"
            f"{{{','.join(self.generation.places)}}}/{benchmark})"
        )

    def config(self, name: str) -> Path:
        """The user's config file, given as SPEC's tools take it: a name in config/, or a path."""
        if not name:
            raise LabError(f"which config file? --config NAME; there {self._configs()}")
        for path in (self.path / "config" / f"{name}.cfg", self.path / "config" / name, Path(name)):
            if path.is_file():
                return path.resolve()
        raise LabError(f"no config file {name} in {self.path}/config; there {self._configs()}")

    def _configs(self) -> str:
        there = sorted(path.name for path in (self.path / "config").glob("*.cfg"))
        return f"are: {' '.join(there)}" if there else "is none: copy an example and edit it"

    def built(self, benchmark: str, tune: str) -> bool:
        """Whether some executable of that tuning is there (which one fits only SPEC can say)."""
        return any(self.directory(benchmark).glob(f"exe/*_{tune}.*"))


def find(path: str | None) -> Tree:
    """The tree that SPEC_DIR names. LabError says what is missing."""
    if not path:
        raise LabError(
            "SPEC_DIR is not set. SPEC CPU is licensed and cannot be shipped: set SPEC_DIR to "
            "your own installed CPU2000, CPU2006 or CPU2017. Without one, the same mixes run "
            "with stand-ins from Debian packages: bench/run --suite spec"
        )
    root = Path(path)
    if not root.is_dir():
        raise LabError(f"SPEC_DIR={path}: no such directory")
    root = root.resolve()
    found = [generation for generation in GENERATIONS if _is(root, generation)]
    if not found:
        unpacked = (root / "install.sh").exists()
        hint = "SPEC's install.sh was not run to its end" if unpacked else "not a SPEC CPU tree"
        raise LabError(
            f"SPEC_DIR={path}: {hint}: there is no bin/runspec with benchspec/CINT2000 or "
            "benchspec/CPU2006, and no bin/runcpu with benchspec/CPU"
        )
    if not (root / "shrc").is_file():
        raise LabError(f"SPEC_DIR={path}: no shrc in it, which sets SPEC's environment")
    return Tree(root, found[0])


def _is(root: Path, generation: Generation) -> bool:
    return os.access(root / "bin" / generation.tool, os.X_OK) and any(
        (root / "benchspec" / place).is_dir() for place in generation.places
    )
