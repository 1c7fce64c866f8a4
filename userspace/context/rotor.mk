# SPDX-License-Identifier: GPL-2.0
#
# For programs that have the module's rotor, freezer and fail-safe in user space: tests/rotor and
# bench/simulator on a virtual clock, mtsd with the host's threads and clock (MACHINE := real).
# Before this is included MODULE and USERSPACE name those folders. A program compiles the sources of
# both lists, which are relative to those folders, with ROTOR_CPPFLAGS, and brings the rest: a host,
# and what is done to a job (jobs/ops.h).

MACHINE ?= virtual

ROTOR_MODULE := job.c events/wake.c events/promise.c events/stats.c \
	$(addprefix jobs/,above.c freezer.c gate.c thaw.c failsafe.c budget.c calls.c interactive.c \
		lookout.c protect.c ran.c) \
	$(patsubst $(MODULE)/%,%,$(wildcard $(MODULE)/rotor/*.c $(MODULE)/policy/*.c \
		$(MODULE)/binpack/*.c))
ROTOR_USERSPACE_virtual := context/virtual/machine.c context/virtual/kernel.c context/virtual/enrol.c
ROTOR_USERSPACE_real := context/real/machine.c context/real/params.c
ROTOR_USERSPACE := $(ROTOR_USERSPACE_$(MACHINE))
# What stands in for a header of the module comes before it.
ROTOR_CPPFLAGS := -I$(USERSPACE)/context/$(MACHINE)/fake -I$(USERSPACE)/context/$(MACHINE) \
	-I$(MODULE) -I$(USERSPACE)
# Parameters that the kernel's functions have, and ours do not use.
ROTOR_CFLAGS := -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
