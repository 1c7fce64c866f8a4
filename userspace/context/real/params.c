// SPDX-License-Identifier: GPL-2.0
#include "context.h"

static struct mts_user_param *params;
static struct {
	const char *name;
	const char *text;
} texts[32];
static u32 ntexts;

void mts_user_param_register(struct mts_user_param *param)
{
	param->next = params;
	params = param;
}

void mts_user_param_text(const char *name, const char *text)
{
	if (ntexts == ARRAY_SIZE(texts))
		return;
	texts[ntexts].name = name;
	texts[ntexts++].text = text;
}

static const char *take_number(const char *text, u64 most, u64 *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-' || *value > most)
		return "not a number in range";
	return NULL;
}

static const char *take(const struct mts_user_param *param, const char *text)
{
	const char *wrong;
	u64 value;

	if (param->type == MTS_USER_charp) {
		*(char **)param->value = strdup(text);
		return *(char **)param->value ? NULL : "no memory";
	}
	if (param->type == MTS_USER_bool && strlen(text) == 1 && strchr("yYnN", *text))
		text = strchr("yY", *text) ? "1" : "0";
	wrong = take_number(text,
			    param->type == MTS_USER_bool ? 1 :
			    param->type == MTS_USER_uint ? U32_MAX :
							   U64_MAX,
			    &value);
	if (wrong)
		return wrong;
	if (param->type == MTS_USER_bool)
		*(bool *)param->value = value;
	else if (param->type == MTS_USER_uint)
		*(unsigned int *)param->value = value;
	else
		*(unsigned long long *)param->value = value;
	return NULL;
}

const char *mts_user_param_take(const char *word)
{
	size_t length = strcspn(word, "=");
	struct mts_user_param *param;

	if (!word[length])
		return "not KEY=VALUE";
	for (param = params; param; param = param->next)
		if (strlen(param->name) == length && !strncmp(param->name, word, length))
			return take(param, word + length + 1);
	return "no such parameter";
}

void mts_user_param_help(void)
{
	u32 i;

	for (i = 0; i < ntexts; i++)
		printf("  %-12s %s\n", texts[i].name, texts[i].text);
}
