# SPDX-License-Identifier: GPL-2.0
#
# How all programs of bench/ are compiled: sources of the folder whose Makefile includes this, and
# of bench/common, into OBJECTS, a folder that it has named before, as NAME.o and common/NAME.o.
#
# make [BUILD=DIR] [STATIC=1]

.DEFAULT_GOAL := all
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror
override CPPFLAGS += -I../common -MMD -MP
ifeq ($(STATIC),1)
override LDFLAGS += -static
endif

define compile
@mkdir -p $(@D)
$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
endef

$(OBJECTS)/%.o: %.c Makefile ../common/compile.mk
	$(compile)

$(OBJECTS)/common/%.o: ../common/%.c Makefile ../common/compile.mk
	$(compile)

-include $(shell [ ! -d $(OBJECTS) ] || find $(OBJECTS) -name '*.d')
