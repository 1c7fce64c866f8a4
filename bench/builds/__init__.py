# SPDX-License-Identifier: GPL-2.0
"""The generated C project that suites compile."""
