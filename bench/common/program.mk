# SPDX-License-Identifier: GPL-2.0
#
# A benchmark program: PROGRAM is its name, SOURCES are its own files, COMMON those of
# bench/common. For Makefiles in folders beside this one:
#
# make [BUILD=DIR] [STATIC=1] [DESTDIR=DIR] [PREFIX=/usr/local] [all|install|uninstall|clean]

BUILD ?= ../../build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
override CFLAGS += -std=gnu11 -Wall -Wextra -Werror -I../common
ifeq ($(STATIC),1)
override LDFLAGS += -static
endif

OBJECTS := $(SOURCES:%.c=$(BUILD)/$(PROGRAM).objects/%.o) \
	$(COMMON:%.c=$(BUILD)/$(PROGRAM).objects/common/%.o)
HEADERS := $(wildcard *.h ../common/*.h)

all: $(BUILD)/$(PROGRAM)

$(BUILD)/$(PROGRAM): $(OBJECTS)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/$(PROGRAM).objects/%.o: %.c $(HEADERS) Makefile ../common/program.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/$(PROGRAM).objects/common/%.o: ../common/%.c $(HEADERS) Makefile ../common/program.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

install: all
	install -D -m 755 $(BUILD)/$(PROGRAM) $(DESTDIR)$(PREFIX)/bin/$(PROGRAM)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/$(PROGRAM)

clean:
	rm -rf $(BUILD)/$(PROGRAM) $(BUILD)/$(PROGRAM).objects

.PHONY: all install uninstall clean
