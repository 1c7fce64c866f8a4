# SPDX-License-Identifier: GPL-2.0
#
# A benchmark program: PROGRAM is its name, SOURCES are its own files, COMMON those of
# bench/common. For Makefiles in folders beside this one:
#
# make [BUILD=DIR] [STATIC=1] [DESTDIR=DIR] [PREFIX=/usr/local] [all|install|uninstall|clean]

BUILD ?= ../../build
override BUILD := $(abspath $(BUILD))
PREFIX ?= /usr/local
OBJECTS := $(BUILD)/$(PROGRAM).objects

include ../common/compile.mk

all: $(BUILD)/$(PROGRAM)

$(BUILD)/$(PROGRAM): $(SOURCES:%.c=$(OBJECTS)/%.o) $(COMMON:%.c=$(OBJECTS)/common/%.o)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

install: all
	install -D -m 755 $(BUILD)/$(PROGRAM) $(DESTDIR)$(PREFIX)/bin/$(PROGRAM)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/$(PROGRAM)

clean:
	rm -rf $(BUILD)/$(PROGRAM) $(OBJECTS)

.PHONY: all install uninstall clean
