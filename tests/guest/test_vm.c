// SPDX-License-Identifier: GPL-2.0
/* Virtual machines as jobs: some kernels put a kernel thread into the cgroup of each. */
#include "guest.h"

#include <linux/kvm.h>
#include <linux/vhost.h>
#include <sys/mman.h>
#include <sys/utsname.h>

static void own_vhost(void)
{
	int fd = open("/dev/vhost-vsock", O_RDWR);

	if (fd < 0 || ioctl(fd, VHOST_SET_OWNER, NULL))
		_exit(2);
}

/* A machine with one processor, which halts at once. */
static void own_kvm(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, cpu;
	struct kvm_userspace_memory_region region = { .memory_size = PAGE };
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;
	unsigned char *memory;

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	memory[0] = 0xf4; /* hlt */
	region.userspace_addr = (uintptr_t)memory;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0 || ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region))
		_exit(2);
	cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (cpu < 0 || ioctl(cpu, KVM_GET_SREGS, &sregs))
		_exit(2);
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(cpu, KVM_SET_SREGS, &sregs) || ioctl(cpu, KVM_SET_REGS, &regs) ||
	    ioctl(cpu, KVM_RUN, 0))
		_exit(2);
}

/* The job "vm": a process that @owns something, and uses 24 MiB. */
static void start_vm(void (*owns)(void), const char *device)
{
	pid_t pid;

	if (access(device, R_OK | W_OK))
		guest_skip("there is no %s", device);
	start_hogs(HOG_RANDOM, 2, three_equal);
	pid = spawn();
	if (!pid) {
		create_job("vm", MTS_JOB_ENTER);
		mts_close();
		owns();
		for (;;) {
			touch(24);
			pause();
		}
	}
	expect_soon(find_job("vm", NULL), "%s", describe());
	expect_soon(cg_number(cg_job("vm"), "memory.current") > 20 * (long long)MIB, "%s",
		    describe());
	rotate(60, 300, MTS_EVICT_OFF);
	expect_rotation(2);
	wait_rounds(3);
	check(is_alive(pid), "it has failed");
}

/* 6.1 has a kernel thread in its cgroup; from 6.12 on it is a thread of the process. */
static void expect_turns(void)
{
	struct mts_job_info job = job_named("vm");
	struct utsname name;

	check(!uname(&name), "uname: %m");
	note("%s: %s", name.release, job_state_name(job.state));
	if (!strncmp(name.release, "6.1.", 4))
		check(job.state == MTS_JOB_UNTOUCHABLE, "%s", describe());
	else
		check(job.slices && job.frozen_longest_ns, "%s", describe());
}

static void a_vm_with_vhost_takes_turns(void)
{
	start_vm(own_vhost, "/dev/vhost-vsock");
	expect_turns();
}

static void a_vm_with_kvm_takes_turns(void)
{
	start_vm(own_kvm, "/dev/kvm");
	expect_turns();
}

GUEST_TESTS(TEST(a_vm_with_vhost_takes_turns), TEST(a_vm_with_kvm_takes_turns));
