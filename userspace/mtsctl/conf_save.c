// SPDX-License-Identifier: GPL-2.0
#include "conf_save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "conf_file.h"
#include "host.h"

#define HEAD "# Settings of 'mtsctl set --save'.\n"

struct conf_save {
	char folder[PATH_MAX - 64];
	char path[PATH_MAX];
	char new_path[PATH_MAX];
	char **words;
	/* Where the file has what. */
	unsigned int lines[N_SETTINGS]; /* of each setting, from 1; 0: not yet */
	unsigned int header; /* the line of [mts]; 0: there is none */
	FILE *old, *new;
};

static const struct command set_command = { .name = "set" };

static int failed(const char *path, int err)
{
	complain("set --save: %s: %s", path, strerror(err));
	return err == EACCES || err == EPERM ? EXIT_PERMISSION : EXIT_FAILED;
}

/* ---- the old file ------------------------------------------------------------------------- */

static bool on_section(void *user, const struct place *place, const char *name)
{
	struct conf_save *save = user;

	if (!strcmp(name, "mts") && !save->header)
		save->header = place->line;
	return true;
}

static bool on_key(void *user, const struct place *place, const char *key, const char *value)
{
	const struct setting *setting = setting_find(key, strlen(key));
	struct conf_save *save = user;

	(void)value;
	if (setting)
		save->lines[setting - settings] = place->line;
	return true;
}

/* Refuses to save into a file that has errors: what is in it already would not be read. */
static int read_old(struct conf_save *save)
{
	const struct conf_events events = { .section = on_section, .key = on_key, .user = save };
	unsigned int errors = 0;
	struct conf conf;
	int ret, fd;

	if (access(save->path, F_OK) && errno == ENOENT)
		return EXIT_OK;
	ret = conf_read(&conf, &set_command, save->path);
	conf_free(&conf);
	if (!ret)
		ret = conf_file_read(save->path, &events, &errors);
	if (!ret)
		ret = conf_file_open(save->path, &fd);
	if (ret) {
		complain("set --save: nothing has changed: mend that file first");
		return ret;
	}
	save->old = fdopen(fd, "re");
	return save->old ? EXIT_OK : failed(save->path, errno);
}

/* ---- the new file --------------------------------------------------------------------------- */

/* Return: the KEY=VALUE for that line; NULL: the line stays. */
static const char *word_for_line(const struct conf_save *save, unsigned int line)
{
	for (char **word = save->words; *word; word++) {
		const struct setting *setting = setting_find(*word, strcspn(*word, "="));

		if (setting && save->lines[setting - settings] == line)
			return *word;
	}
	return NULL;
}

/* Those that the file did not have. */
static void write_others(struct conf_save *save)
{
	for (char **word = save->words; *word; word++) {
		const struct setting *setting = setting_find(*word, strcspn(*word, "="));

		if (setting && !save->lines[setting - settings])
			fprintf(save->new, "%s\n", *word);
	}
}

static void write_new(struct conf_save *save)
{
	unsigned int line = 0;
	char *text = NULL;
	size_t room = 0;
	ssize_t length;

	if (!save->old)
		fputs(HEAD, save->new);
	while (save->old && (length = getline(&text, &room, save->old)) >= 0) {
		const char *word = word_for_line(save, ++line);

		if (word)
			fprintf(save->new, "%s\n", word);
		else
			fputs(text, save->new);
		if (!word && length && text[length - 1] != '\n')
			fputc('\n', save->new);
		if (line == save->header)
			write_others(save);
	}
	free(text);
	if (!save->header) {
		fputs("[mts]\n", save->new);
		write_others(save);
	}
}

static int sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || fsync(fd) ? errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

static void let_go(struct conf_save *save)
{
	if (save->old)
		fclose(save->old);
	if (save->new)
		fclose(save->new);
	free(save);
}

static int make_folders(const struct conf_save *save)
{
	if (mkdir(host_config(), 0755) && errno != EEXIST)
		return failed(host_config(), errno);
	if (mkdir(save->folder, 0755) && errno != EEXIST)
		return failed(save->folder, errno);
	return conf_dir_check(save->folder);
}

static int open_new(struct conf_save *save)
{
	int fd;

	fd = mkostemp(save->new_path, O_CLOEXEC);
	if (fd < 0)
		return failed(save->folder, errno);
	save->new = fdopen(fd, "we");
	if (!save->new || fchmod(fd, 0644)) {
		int err = errno;

		unlink(save->new_path);
		return failed(save->new_path, err);
	}
	return EXIT_OK;
}

int conf_save_begin(char **words, struct conf_save **begun)
{
	struct conf_save *save = calloc(1, sizeof(*save));
	int ret;

	if (!save)
		return failed(CONF_SAVED, ENOMEM);
	save->words = words;
	snprintf(save->folder, sizeof(save->folder), "%s/" CONF_FOLDER, host_config());
	snprintf(save->path, sizeof(save->path), "%s/" CONF_SAVED, save->folder);
	/* A name that is no *.conf: if the host stops now, the file is not read. */
	snprintf(save->new_path, sizeof(save->new_path), "%s/." CONF_SAVED ".XXXXXX", save->folder);
	ret = make_folders(save);
	if (!ret)
		ret = read_old(save);
	if (!ret)
		ret = open_new(save);
	if (ret) {
		let_go(save);
		return ret;
	}
	write_new(save);
	if (fflush(save->new) || ferror(save->new) || fsync(fileno(save->new))) {
		ret = failed(save->new_path, errno);
		unlink(save->new_path);
		let_go(save);
		return ret;
	}
	*begun = save;
	return EXIT_OK;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* A later file may change the values again. Errors in other files are not this command's. */
static void warn_of_later(const struct conf_save *save)
{
	struct conf conf;

	if (conf_read(&conf, &set_command, NULL))
		complain(
			"set --save: saved, but the configuration has errors: until they are mended "
			"'mtsctl config load' changes nothing");
	for (char **word = save->words; *word; word++) {
		const struct setting *setting = setting_find(*word, strcspn(*word, "="));
		const struct place *origin = &conf.origins[setting - settings];

		if (origin->file && strcmp(origin->file, save->path))
			complain("set --save: %s:%u sets %s, too, and is read later: that value "
				 "counts at the next boot",
				 origin->file, origin->line, setting->key);
	}
	conf_free(&conf);
}

int conf_save_end(struct conf_save *save, int status)
{
	int err;

	if (!save)
		return status;
	if (status) {
		unlink(save->new_path);
	} else if (rename(save->new_path, save->path)) {
		status = failed(save->path, errno);
		complain("set --save: the values hold now, but are not saved");
		unlink(save->new_path);
	} else {
		err = sync_folder(save->folder);
		status = err ? failed(save->folder, err) : EXIT_OK;
		warn_of_later(save);
	}
	let_go(save);
	return status;
}
