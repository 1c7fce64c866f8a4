# SPDX-License-Identifier: GPL-2.0
#
# For programs that decide as the module does, after compile.mk: the policy and the packing are the
# module's own sources, compiled for user space; times and sizes are read by mtsctl's. A program is
# linked with $(POLICY_OBJECTS).

MODULE := ../../module
MTSCTL := ../../userspace/mtsctl
override CPPFLAGS += -I$(MODULE) -I$(MTSCTL)

PURE := $(wildcard $(MODULE)/policy/*.c $(MODULE)/binpack/*.c)
POLICY_OBJECTS := $(OBJECTS)/mtsctl/parse.o $(PURE:$(MODULE)/%.c=$(OBJECTS)/module/%.o)

$(OBJECTS)/module/%.o: $(MODULE)/%.c Makefile
	$(compile)

$(OBJECTS)/mtsctl/%.o: $(MTSCTL)/%.c Makefile
	$(compile)
