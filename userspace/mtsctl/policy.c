// SPDX-License-Identifier: GPL-2.0
#include "policy.h"

#include <stdio.h>

#include "format.h"
#include "words.h"

bool policy_is_chosen(const struct mts_policy_info *info)
{
	bool is = info->since_ns;

	for (u32 i = 0; i < MTS_POLICIES; i++)
		is |= info->of[i].how;
	return is;
}

/* "turns: 0.83 processors, forecast 2.0 s ago" */
static void show_gives(const char *field, u32 policy, const struct mts_policy_gives *gives)
{
	char age[FORMAT_SIZE], left[FORMAT_SIZE], barred[FORMAT_SIZE + 24] = "";

	if (gives->barred_ns)
		snprintf(barred, sizeof(barred), "; not again for %s",
			 format_time(left, gives->barred_ns));
	if (gives->how == MTS_GIVES_UNKNOWN)
		print_field(field, "%s: not known%s", word_of(policy_words, policy), barred);
	else
		print_field(field, "%s: %u.%02u processors, %s %s ago%s",
			    word_of(policy_words, policy), gives->permille / 1000,
			    gives->permille % 1000 / 10, word_of(gives_words, gives->how),
			    format_time(age, gives->age_ns), barred);
}

void policy_show(const struct mts_policy_info *info, u64 now_ns)
{
	char time[FORMAT_SIZE];

	if (!policy_is_chosen(info))
		return;
	if (info->since_ns)
		print_field("policy", "%s for %s%s", word_of(policy_words, info->policy),
			    format_time(time, mts_sub_floor(now_ns, info->since_ns)),
			    info->on_trial ? ", on trial" : "");
	else
		print_field("policy", "%s", word_of(policy_words, info->policy));
	for (u32 i = 0; i < MTS_POLICIES; i++)
		show_gives(i ? "" : "gives", i, &info->of[i]);
}

static json_t *gives_json(const struct mts_policy_gives *gives)
{
	bool known = gives->how != MTS_GIVES_UNKNOWN;
	json_t *root = json_object();

	json_put(&root, "permille", known ? json_u64(gives->permille) : json_null());
	json_put(&root, "how", json_string(word_of(gives_words, gives->how)));
	json_put(&root, "age_ns", known ? json_u64(gives->age_ns) : json_null());
	json_put(&root, "barred_ns", json_u64_or_null(gives->barred_ns));
	return root;
}

json_t *policy_json(const struct mts_policy_info *info, u64 now_ns)
{
	json_t *root = json_object(), *gives = json_object();

	json_put(&root, "in_force", json_string(word_of(policy_words, info->policy)));
	json_put(&root, "on_trial", json_boolean(info->on_trial));
	json_put(&root, "in_force_ns",
		 info->since_ns ? json_u64(mts_sub_floor(now_ns, info->since_ns)) : json_null());
	for (u32 i = 0; i < MTS_POLICIES; i++)
		json_put(&gives, word_of(policy_words, i), gives_json(&info->of[i]));
	json_put(&root, "gives", policy_is_chosen(info) ? gives : json_null());
	if (!policy_is_chosen(info))
		json_decref(gives);
	return root;
}
