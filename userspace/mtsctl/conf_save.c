// SPDX-License-Identifier: GPL-2.0
#include "conf_save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "conf_file.h"
#include "host.h"

/* A name that is no *.conf: if the host stops now, the file is not read. */
#define NEW "." CONF_SAVED ".new"
#define HEAD "# Settings of 'mtsctl set --save'.\n"

struct conf_save {
	char folder[PATH_MAX - 64];
	char path[PATH_MAX];
	int folder_fd; /* locked */
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

static void let_go(struct conf_save *save)
{
	if (save->old)
		fclose(save->old);
	if (save->new)
		fclose(save->new);
	if (save->folder_fd >= 0)
		close(save->folder_fd);
	free(save);
}

/* Locks the folder, so that of two savers the later one has what the earlier one wrote. */
static int open_folder(struct conf_save *save)
{
	int ret;

	if (mkdir(host_config(), 0755) && errno != EEXIST)
		return failed(host_config(), errno);
	ret = conf_dir_check(host_config());
	if (ret)
		return ret;
	if (mkdir(save->folder, 0755) && errno != EEXIST)
		return failed(save->folder, errno);
	save->folder_fd = open(save->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (save->folder_fd < 0 || flock(save->folder_fd, LOCK_EX))
		return failed(save->folder, errno);
	return conf_dir_check(save->folder);
}

static int open_new(struct conf_save *save)
{
	int fd;

	/* Of a saver that was killed. */
	unlinkat(save->folder_fd, NEW, 0);
	fd = openat(save->folder_fd, NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return failed(save->folder, errno);
	save->new = fdopen(fd, "we");
	/* Whatever the umask is. */
	if (save->new && !fchmod(fd, 0644))
		return EXIT_OK;
	unlinkat(save->folder_fd, NEW, 0);
	return failed(save->folder, errno);
}

/* Return: false: errno says why. */
static bool is_written(struct conf_save *save)
{
	errno = 0;
	write_new(save);
	/* A line that cannot be read would be lost. */
	if ((save->old && ferror(save->old)) || fflush(save->new) || ferror(save->new)) {
		errno = errno ?: EIO;
		return false;
	}
	return !fsync(fileno(save->new));
}

int conf_save_begin(char **words, struct conf_save **begun)
{
	struct conf_save *save = calloc(1, sizeof(*save));
	int ret;

	if (!save)
		return failed(CONF_SAVED, ENOMEM);
	save->words = words;
	save->folder_fd = -1;
	snprintf(save->folder, sizeof(save->folder), "%s/" CONF_FOLDER, host_config());
	snprintf(save->path, sizeof(save->path), "%s/" CONF_SAVED, save->folder);
	ret = open_folder(save);
	if (!ret)
		ret = read_old(save);
	if (!ret)
		ret = open_new(save);
	if (!ret && !is_written(save)) {
		ret = failed(save->path, errno);
		unlinkat(save->folder_fd, NEW, 0);
	}
	if (ret) {
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
	if (!save)
		return status;
	if (status) {
		unlinkat(save->folder_fd, NEW, 0);
	} else if (renameat(save->folder_fd, NEW, save->folder_fd, CONF_SAVED)) {
		status = failed(save->path, errno);
		complain("set --save: the values hold now, but are not saved");
		unlinkat(save->folder_fd, NEW, 0);
	} else {
		if (fsync(save->folder_fd))
			status = failed(save->folder, errno);
		warn_of_later(save);
	}
	let_go(save);
	return status;
}
