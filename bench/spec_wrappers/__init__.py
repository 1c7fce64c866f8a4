# SPDX-License-Identifier: GPL-2.0
"""SPEC CPU in mixes of programs at the same time, and stand-ins for users without SPEC.

run         the command: the user's own SPEC tree on the user's own host
mix.py      the notation of mixes, 3gzip+2gcc
tree.py     what a SPEC tree is, and what is missing in it
launch.py   command lines of runspec and runcpu, and all of a mix at the same time
outcome.py  the result files that SPEC's tools write
standins.py the stand-ins' commands, for the suite `spec`
"""
