# SPDX-License-Identifier: GPL-2.0
"""What stock kernels offer by themselves, and the lower bound."""

from bench.lab.experiment import Policy

_LRU_GEN = "/sys/kernel/mm/lru_gen"

# A kernel without the multi-generational LRU has only the classic one.
CLASSIC_LRU = f"[ ! -e {_LRU_GEN}/enabled ] || echo 0 >{_LRU_GEN}/enabled"

MGLRU = f"echo y >{_LRU_GEN}/enabled && grep -q 0x0007 {_LRU_GEN}/enabled"

# Where systemd has what a person starts: user.slice, that of the user, the session's scope, with
# these controllers all the way. The driver moves there itself, before it starts the jobs.
_SESSION = f"""{CLASSIC_LRU}
cd /sys/fs/cgroup || exit 1
for part in user.slice user-0.slice session-1.scope; do
	echo "+memory +pids" >cgroup.subtree_control && mkdir "$part" && cd "$part" || exit 1
done
echo $PPID >cgroup.procs"""

ZSWAP_ON = "zswap.enabled=1"  # for the kernel's command line

# zswap takes its pool as a share of the guest's memory, most of which is the swap disk and what
# the driver pins. Its default of 20 % refers to the memory that programs have.
ZSWAP = f"""{CLASSIC_LRU}
cd /sys/module/zswap/parameters || exit 1
total=$(sed -n 's/^MemTotal: *\\([0-9]*\\) kB/\\1/p' /proc/meminfo)
percent=$(((LAB_FREE_MIB * 1024 * 20 + total / 2) / total))
[ $percent -gt 0 ] || percent=1
echo $percent >max_pool_percent || exit 1
[ "$(cat enabled)" = Y ]"""

# Two numbers for the result: the most that the pool held is not kept by the kernel.
_ZSWAP_AFTER = """cd /sys/kernel/debug/zswap || exit 1
cat <<END
{"zpool": "$(cat /sys/module/zswap/parameters/zpool)",
 "compressor": "$(cat /sys/module/zswap/parameters/compressor)",
 "max_pool_percent": $(cat /sys/module/zswap/parameters/max_pool_percent),
 "pool_bytes": $(cat pool_total_size), "stored_pages": $(cat stored_pages),
 "pool_limit_hit": $(cat pool_limit_hit), "written_back_pages": $(cat written_back_pages),
 "reject_compress_poor": $(cat reject_compress_poor)}
END"""

POLICIES = (
    Policy("stock", "stock Linux, classic LRU", setup=CLASSIC_LRU),
    Policy(
        "session",
        "stock Linux, classic LRU, programs in the cgroup of a session, as systemd has them",
        setup=_SESSION,
    ),
    Policy("mglru", "stock Linux, multi-generational LRU", setup=MGLRU),
    Policy(
        "mglru+min_ttl",
        "multi-generational LRU that keeps what was used in the last second (min_ttl_ms=1000)",
        setup=f"{MGLRU} && echo 1000 >{_LRU_GEN}/min_ttl_ms",
    ),
    Policy(
        "zswap",
        "stock Linux with zswap: the kernel's default pool and compressor, 20 % of what is free",
        zswap=True,
        append=ZSWAP_ON,
        setup=ZSWAP,
        after=_ZSWAP_AFTER,
    ),
    Policy(
        "ideal",
        "batches that fit in memory, one after the other, each to its end: the lower bound",
        start="ideal",
        setup=CLASSIC_LRU,
    ),
)
