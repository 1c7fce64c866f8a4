// SPDX-License-Identifier: GPL-2.0
#include "policy/entitled.h"

/* @value * @up / @down, and U64_MAX where that does not fit. */
static u64 scale(u64 value, u64 up, u64 down)
{
	if (up == down)
		return value;
	if (div64_u64(value, down) >= div64_u64(U64_MAX, up))
		return U64_MAX;
	return mul_u64_u64_div_u64(value, up, down);
}

u64 mts_entitled_service(u64 ran_ns, u64 entitled)
{
	return scale(ran_ns, MTS_ENTITLED_DEFAULT, entitled ? entitled : MTS_ENTITLED_DEFAULT);
}

u64 mts_entitled_ran(u64 service_ns, u64 entitled)
{
	return scale(service_ns, entitled ? entitled : MTS_ENTITLED_DEFAULT, MTS_ENTITLED_DEFAULT);
}

/* The highest bit that is set, and the three below it. */
u32 mts_entitled_class(u32 entitled)
{
	u32 exponent = 0;

	for (entitled = entitled ? entitled : MTS_ENTITLED_DEFAULT; entitled >= 16; entitled >>= 1)
		exponent++;
	return 8 * exponent + (entitled < 8 ? 0 : entitled - 8);
}
