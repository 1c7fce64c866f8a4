# SPDX-License-Identifier: GPL-2.0
"""Benchmarks of mts and the laboratory that they run in."""
