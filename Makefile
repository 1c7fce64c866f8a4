# SPDX-License-Identifier: GPL-2.0
#
# `make help` says what there is.

BUILD := $(CURDIR)/build
PYTHON ?= /usr/bin/python3
DESTDIR ?=
PREFIX ?= /usr/local
VERSION = $(shell sed -n 's/^.define MTS_VERSION "\(.*\)"$$/\1/p' module/version.h)

# Headers of the kernel of the guests, Debian 12's: the newest that are installed.
GUEST_KDIR := $(shell ls -d /usr/src/linux-headers-6.1*-amd64 2>/dev/null | grep -v -e '-rt-amd64$$' | sort -V | tail -n 1)
RUNNING_KDIR := /lib/modules/$(shell uname -r)/build
KDIR ?= $(if $(wildcard $(RUNNING_KDIR)/Makefile),$(RUNNING_KDIR),$(GUEST_KDIR))

KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR)/module
STATIC = BUILD=$(BUILD)/static STATIC=1
# On all processors, unless the caller has said on how many.
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
# Folders of programs that run in guests.
GUEST_PROGRAMS := userspace/mtsctl userspace/mtsd bench/syn8 bench/driver bench/consumers bench/scanners \
	bench/swappers bench/protection bench/spec_wrappers bench/idle bench/latency

all: module mtsctl mtsd libmts syn8

help:
	@echo 'make             the module, mtsctl, mtsd, libmts and syn8'
	@echo 'make demo        two guests side by side, stock Linux and mts: below 4 minutes'
	@echo 'make demo-host   this host itself, the kernel alone and mtsd: below 2 minutes; as root'
	@echo 'make bench       all suites, stock Linux, mts and the ideal, and a report: below an hour'
	@echo 'make bench-full  all suites in their whole range under all policies: days'
	@echo 'make bars        what mts is to reach, line by line: days; it goes on where it was'
	@echo 'make bench-host  policies on this host, real gigabytes; as root; ARGS="--help": what else'
	@echo 'make test        what must always pass, guests included: half an hour'
	@echo 'make test-all    that, and the slow tests'
	@echo 'make soak        the rotor on its virtual clock, ten million switches: two hours'
	@echo 'make test-debug  those in guests, on a kernel with lockdep and KASAN: two hours'
	@echo 'make test-rt     those in guests, on the PREEMPT_RT kernel: an hour'
	@echo 'make newer       the module for the kernels of newer Debian suites'
	@echo 'make test-newer  the tests in guests on those kernels: an hour'
	@echo 'make test-systemd  beside systemd, logind and podman, on trixie: 20 minutes'
	@echo 'make deb         packages for Debian; make dist: the sources as a tar.xz'
	@echo 'make recipes     what rpmbuild and makepkg take: build/recipes'
	@echo 'make site        documents and man pages as a site with a search: build/site'
	@echo 'make kernelshark a plugin for KernelShark: docs/howto-trace.md'
	@echo 'make lint        all checks of the sources'
	@echo 'make format      lay out C and Python as make lint wants them'
	@echo 'make install     module, mtsctl, mtsd, manuals and units; as root'
	@echo 'make install-mtsd  that without the module, for hosts that load none; as root'
	@echo 'make install-libmts  the library libmts with its header and manual; as root'
	@echo 'make install-python  the package mts for Python; as root'
	@echo 'make uninstall   the reverse'
	@echo 'make clean       remove what was built, but not what was downloaded (distclean)'
	@echo
	@echo 'parts:           module mtsctl mtsd libmts syn8 static guest-module guest-tests'
	@echo 'simulate-check:  what bench/simulate foretells of the runs of make bench, beside them'
	@echo 'variables:       KDIR (kernel to build for) DESTDIR PREFIX'
	@echo 'what is missing: tools/setup build|demo|bench|host|test|debug|newer|systemd|lint|deb|autopkgtest|site|browser|kernelshark'

kdir:
	@if [ ! -e '$(KDIR)/Makefile' ]; then \
		echo 'make: no kernel headers: apt-get install linux-headers-$(shell uname -r),' \
			'or say where they are with KDIR=' >&2; exit 1; fi

module: kdir
	+$(KBUILD) modules

mtsctl:
	$(MAKE) -C userspace/mtsctl BUILD=$(BUILD)

mtsd:
	$(MAKE) -C userspace/mtsd BUILD=$(BUILD)

libmts:
	$(MAKE) -C userspace/libmts BUILD=$(BUILD)

kernelshark:
	$(MAKE) -C userspace/kernelshark BUILD=$(BUILD)

syn8:
	$(MAKE) -C bench/syn8 BUILD=$(BUILD)

# What runs in guests has no shared libraries.
static:
	@set -e; for folder in $(GUEST_PROGRAMS); do $(MAKE) -C $$folder $(STATIC); done

guest-module:
	$(MAKE) module KDIR=$(GUEST_KDIR)

guest-tests:
	$(MAKE) -C tests/guest BUILD=$(BUILD)

demo:
	@tools/setup demo
	@$(MAKE) -s $(PARALLEL) guest-module static
	@bench/demo

# On this host, without a guest. ARGS: options of bench/demo-host.
demo-host:
	@tools/setup host
	@$(MAKE) -s $(PARALLEL) static
	@$(PYTHON) bench/demo-host $(ARGS)

# Of a sweep in which a run failed there is a report all the same.
bench:
	@tools/setup bench
	@$(MAKE) -s $(PARALLEL) guest-module static
	@rm -rf $(BUILD)/results
	@status=0; bench/run --effort quick --output $(BUILD)/results || status=$$?; \
		bench/report $(BUILD)/results && exit $$status

# Takes days: what an earlier one has measured is kept, and that is said.
bench-full:
	@tools/setup bench
	@$(MAKE) -s $(PARALLEL) guest-module static
	@status=0; bench/run --effort full --keep --output $(BUILD)/results-full || status=$$?; \
		bench/report --output $(BUILD)/report-full $(BUILD)/results-full && exit $$status

# On this host, without a guest. ARGS: options of bench/bench-host.
bench-host:
	@tools/setup host
	@$(MAKE) -s $(PARALLEL) static
	@$(PYTHON) bench/bench-host $(ARGS)

# Takes days, and goes on where it was; without $(BUILD)/bars it begins anew. Some of them:
# bench/bars --only TEXT. Those of this host need root, and a host that is idle.
bars:
	@tools/setup bench
	@$(MAKE) -s $(PARALLEL) guest-module static
	@bench/bars --keep --output $(BUILD)/bars

# What bench/simulate foretells of the runs of `make bench` that it can do.
simulate-check:
	@bench/simulate --check $(BUILD)/results

# Three files at a time: a guest of the tests keeps one processor busy, and others wait most of the
# time. Which groups are slow, and why, tests/guest/harness.py tells. A test that hangs fails after
# 25 minutes, with its name: the longest group of guests takes 8, beside others.
test: SELECT := -m 'not slow' --timeout 1500
test test-all:
	@tools/setup test
	@$(MAKE) -s $(PARALLEL) all
	@$(MAKE) -s $(PARALLEL) guest-module static guest-tests
	$(PYTHON) -m pytest -n 3 --dist loadfile $(SELECT) tests

# Takes two hours: as tests/rotor in `make test`, for longer, and broken on purpose.
soak:
	@tools/setup test
	$(MAKE) -C tests/rotor BUILD=$(BUILD)/rotor
	tests/rotor/mutants
	$(BUILD)/rotor/rotor-checked --seed 1000000 --switches 500000
	$(BUILD)/rotor/rotor --seed 2000000 --switches 10000000 --coverage

# Takes two hours: the guest tests on a kernel that watches its modules (lockdep, KASAN, ...).
test-debug:
	@tools/setup debug
	@tools/debug-kernel
	@$(MAKE) -s static guest-tests
	@$(MAKE) -s module KDIR=$(BUILD)/debug/out
	$(PYTHON) tests/guest/on_kernel.py debug

# Takes an hour: the guest tests on Debian's PREEMPT_RT kernel.
test-rt:
	@tools/setup test
	@tools/rt-kernel
	@$(MAKE) -s static guest-tests
	$(PYTHON) tests/guest/on_kernel.py rt

# That it builds, for each: trixie and sid. Takes 5 minutes and 3 GB the first time.
newer:
	@tools/setup newer
	@tools/newer-kernels

# That it works there. Takes an hour.
test-newer: newer
	@$(MAKE) -s static guest-tests
	$(PYTHON) tests/guest/on_kernel.py trixie
	$(PYTHON) tests/guest/on_kernel.py sid

# Debian 13 with systemd as PID 1. What is downloaded, the first time, takes 5 minutes more.
test-systemd:
	@tools/setup systemd
	@tools/newer-kernels trixie
	$(PYTHON) -m pytest tests/systemd

lint:
	@tools/setup lint
	@tools/lint

format:
	@tools/setup lint
	@tools/lint --format

# Headers of another kernel are good to build for the guests. Installed, the module would not load.
install-kdir: kdir
	@if [ -z '$(DESTDIR)' ] && [ '$(origin KDIR)' = file ] && [ '$(RELEASE)' != '$(shell uname -r)' ]; then \
		echo 'make: these headers are of $(RELEASE), this host runs $(shell uname -r):' \
			'apt-get install linux-headers-$(shell uname -r), or say which kernel with KDIR=' >&2; exit 1; fi

# Modules go where the kernel that they are for looks for them. With DESTDIR (packages) depmod
# is left to the installation of the package.
install: install-kdir module install-mtsd
	$(KBUILD) INSTALL_MOD_PATH=$(DESTDIR) INSTALL_MOD_DIR=updates \
		$(if $(DESTDIR),DEPMOD=true) modules_install
	$(if $(DESTDIR),,depmod $(RELEASE))

# mtsd is also the door to the module for users. Alone, for hosts that load no module: it needs no
# kernel headers.
install-mtsd: mtsctl mtsd
	$(MAKE) -C userspace/mtsctl BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install
	$(MAKE) -C userspace/mtsd BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install

# For programs in C and C++ that are jobs, or steer them.
install-libmts:
	$(MAKE) -C userspace/libmts BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install

# The package mts for Python, which calls mtsctl.
install-python:
	$(MAKE) -C userspace/python DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) install

# For packages: sources of which DKMS builds the module for each kernel of a host.
install-dkms: SOURCES = $(DESTDIR)/usr/src/mts-$(VERSION)
install-dkms:
	rm -rf $(SOURCES)
	cd module && find . \( -name '*.[ch]' -o -name Kbuild \) ! -name '*.mod.c' \
		-exec install -D -m 0644 {} $(SOURCES)/{} \;
	sed 's/#MODULE_VERSION#/$(VERSION)/' packaging/dkms.conf >$(SOURCES)/dkms.conf

# Kernels may pack their modules. Hosts without headers have no module of ours.
uninstall:
	$(if $(DESTDIR),,tools/stop-services $(or $(UNITDIR),$(PREFIX)/lib/systemd/system))
	if [ -e '$(KDIR)/Makefile' ]; then \
		for packed in '' .gz .xz .zst; do \
			rm -f $(DESTDIR)/lib/modules/$(RELEASE)/updates/mts.ko$$packed; done; \
		$(if $(DESTDIR),:,depmod $(RELEASE)); fi
	$(MAKE) -C userspace/mtsctl BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall
	$(MAKE) -C userspace/mtsd BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall
	$(MAKE) -C userspace/libmts BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall
	$(MAKE) -C userspace/python DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) uninstall

# The release that KDIR is for.
RELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)

# The sources of the commit, reproducibly: build/mts-VERSION.tar.xz. COMMIT: a tag, or HEAD.
dist:
	@tools/dist $(COMMIT)

# Debian packages of them: build/deb/mts*.deb.
deb:
	@tools/setup deb
	@tools/deb $(COMMIT)

# An RPM spec and a PKGBUILD of them, with their version: build/recipes.
recipes:
	@tools/recipes $(COMMIT)

# The documents as HTML: build/site/html/index.html.
site:
	@tools/setup site
	@tools/site

# What was downloaded stays: build/kernel, build/venv, build/site-venv, build/checkpatch, build/rivals,
# build/prometheus; and so do the kernels of test-debug, test-rt and newer, the guests of
# test-systemd and tests/packaging, and what was measured for days, build/results-full.
clean:
	if [ -e '$(KDIR)/Makefile' ]; then $(KBUILD) clean; fi
	if [ -d $(BUILD) ]; then find $(BUILD) -mindepth 1 -maxdepth 1 \
		! -name kernel ! -name venv ! -name site-venv ! -name checkpatch ! -name rivals ! -name prometheus ! -name debug ! -name rt \
		! -name newer ! -name systemd ! -name packaging ! -name results-full -exec rm -rf {} +; fi

distclean: clean
	rm -rf $(BUILD)

.PHONY: all help kdir install-kdir module mtsctl mtsd libmts install-mtsd install-libmts kernelshark syn8 static guest-module guest-tests demo demo-host bench bench-full bench-host bars \
	simulate-check test test-all soak test-debug test-rt newer test-newer test-systemd \
	lint format install install-python install-dkms uninstall dist deb recipes site clean distclean
