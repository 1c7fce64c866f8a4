// SPDX-License-Identifier: GPL-2.0
#include "signals.h"

#include <stddef.h>

volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

void signals_catch(void)
{
	static const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}
