// SPDX-License-Identifier: GPL-2.0
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "container.h"

void labels_find(struct snapshot *s)
{
	char name[CONTAINER_NAME_SIZE];

	s->containers = calloc((size_t)s->njobs + 1, sizeof(*s->containers));
	for (u32 i = 0; s->containers && i < s->njobs; i++)
		if (container_of_job(&s->jobs[i], NULL, name))
			s->containers[i] = strdup(name);
}
