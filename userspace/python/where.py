# SPDX-License-Identifier: GPL-2.0
"""where.py PREFIX: print the folder below PREFIX where Python looks for packages."""

import sys
import sysconfig

prefix = sys.argv[1]
# Debian's Python has a scheme of its own for /usr/local, which is the default.
local = sysconfig.get_path("purelib")
if prefix == "/usr/local" and local.startswith("/usr/local/"):
    print(local)
else:
    print(sysconfig.get_path("purelib", "posix_prefix", {"base": prefix}))
