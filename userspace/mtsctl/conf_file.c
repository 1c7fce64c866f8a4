// SPDX-License-Identifier: GPL-2.0
#include "conf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BOM "\xef\xbb\xbf"
#define SECTION_MAX 49 /* bytes of a section's name that libinih keeps */
#define ERRORS_MAX 20 /* of a file; then the rest is not read */

/* libinih tells no lines, so its reader counts them. */
struct reader {
	const struct conf_events *events;
	FILE *file;
	struct place place; /* the line that libinih has */
	struct place section; /* where the present section begins */
	char *text; /* that line, NUL-terminated, and its room */
	size_t room, total;
	bool is_fresh; /* the section has no key yet: events->section is to be called */
	bool is_empty; /* it has no line at all but comments */
	bool waits; /* the line has a key, unless libinih does not find it */
	unsigned int errors;
};

#define READER_ERROR(r, at, ...)              \
	do {                                  \
		(r)->errors++;                \
		(r)->is_empty = false;        \
		complain_at(at, __VA_ARGS__); \
	} while (0)

/* The line that libinih has dealt with. */
static void end_line(struct reader *r)
{
	if (r->waits)
		READER_ERROR(r, &r->place, "not KEY=VALUE, [SECTION] or a comment (#)");
	r->waits = false;
}

/* A header has come, or the end. */
static void end_section(struct reader *r)
{
	if (r->is_empty)
		READER_ERROR(r, &r->section,
			     "the section is empty: write KEY=VALUE below it, "
			     "or remove it");
}

static void begin_section(struct reader *r, const char *header)
{
	const char *end = strchr(header, ']'), *rest = end ? end + 1 + strspn(end + 1, " \t") : "";
	int length = strcspn(rest, "\r\n");

	end_section(r);
	r->section = r->place;
	r->is_fresh = end;
	r->is_empty = end;
	if (!end)
		READER_ERROR(r, &r->place, "the ']' of the section is missing");
	else if (end - header - 1 > SECTION_MAX)
		READER_ERROR(r, &r->place, "the section's name is longer than %d bytes",
			     SECTION_MAX);
	else if (length && !strchr(";#", *rest))
		READER_ERROR(r, &r->place,
			     "'%.*s' behind the section: write it in a line of its own", length,
			     rest);
}

/* What libinih would take for something else. Return: false: it is not to see the line. */
static bool check_line(struct reader *r, size_t length, size_t room)
{
	const char *text = r->text;

	if (memchr(text, '\0', length)) {
		READER_ERROR(r, &r->place, "a NUL byte: this is not a text file");
		return false;
	}
	if (length + 1 > room) {
		READER_ERROR(r, &r->place, "longer than %zu bytes: write a rule for each pattern",
			     room - 2);
		return false;
	}
	if (r->place.line == 1 && !strncmp(text, BOM, strlen(BOM)))
		text += strlen(BOM);
	if (!text[strspn(text, " \t\r\n\v\f")] || strchr("#;", text[strspn(text, " \t")]))
		return true;
	if (strchr(" \t\v\f\r", *text)) {
		READER_ERROR(r, &r->place,
			     "begins with a blank: a value does not go on in the next line");
		return false;
	}
	if (*text == '[')
		begin_section(r, text);
	else
		r->waits = true;
	return true;
}

/* An ini_reader: fgets(). */
static char *next_line(char *buf, int room, void *user)
{
	struct reader *r = user;
	ssize_t length;

	end_line(r);
	if (r->errors >= ERRORS_MAX) {
		complain_at(&r->place, "too many errors: the rest of the file is not read");
		return NULL;
	}
	length = getline(&r->text, &r->room, r->file);
	if (length < 0)
		return NULL;
	r->place.line++;
	r->total += length;
	if (r->total > CONF_FILE_MAX) {
		READER_ERROR(r, &r->place, "the file is larger than %u KiB", CONF_FILE_MAX >> 10);
		return NULL;
	}
	strcpy(buf, "\n");
	if (check_line(r, length, room))
		memcpy(buf, r->text, length + 1);
	return buf;
}

/* An ini_handler. */
static int take_key(void *user, const char *section, const char *key, const char *value)
{
	struct reader *r = user;

	r->waits = false;
	r->is_empty = false;
	if (r->is_fresh) {
		r->is_fresh = false;
		r->errors += !r->events->section(r->events->user, &r->section, section);
	} else if (!*section) {
		READER_ERROR(r, &r->place,
			     "%s= is in no section: write [mts] or [rule NAME] "
			     "above it",
			     key);
		return 1;
	}
	r->errors += !r->events->key(r->events->user, &r->place, key, value);
	return 1;
}

static int check_owner(const struct place *place, const struct stat *st, const char *what)
{
	if (st->st_uid && st->st_uid != geteuid()) {
		complain_at(place,
			    "the %s belongs to user %u: it must be root's, as mts does what "
			    "it says: chown root:root it",
			    what, st->st_uid);
		return EXIT_USAGE;
	}
	if (st->st_mode & 0022) {
		complain_at(place,
			    "users other than its owner can write the %s (mode %04o): "
			    "chmod go-w it",
			    what, st->st_mode & 07777);
		return EXIT_USAGE;
	}
	return EXIT_OK;
}

static int cannot_read(const struct place *place, int err)
{
	complain_at(place, "%s", strerror(err));
	return err == EACCES || err == EPERM ? EXIT_PERMISSION : EXIT_FAILED;
}

int conf_file_open(const char *path, int *fd)
{
	const struct place place = { .file = path };
	struct stat st;
	int ret;

	/* Not blocking: it may be a pipe without a writer. */
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (*fd < 0)
		return cannot_read(&place, errno);
	if (fstat(*fd, &st)) {
		ret = cannot_read(&place, errno);
	} else if (!S_ISREG(st.st_mode)) {
		complain_at(&place, "not a regular file");
		ret = EXIT_USAGE;
	} else {
		ret = check_owner(&place, &st, "file");
	}
	if (!ret && st.st_size > CONF_FILE_MAX) {
		complain_at(&place, "the file is larger than %u KiB", CONF_FILE_MAX >> 10);
		ret = EXIT_USAGE;
	}
	if (ret)
		close(*fd);
	return ret;
}

int conf_dir_check(const char *path)
{
	const struct place place = { .file = path };
	struct stat st;

	if (stat(path, &st))
		return cannot_read(&place, errno);
	return check_owner(&place, &st, "directory");
}

int conf_file_read(const char *path, const struct conf_events *events, unsigned int *errors)
{
	struct reader r = { .events = events, .place = { .file = path } };
	int fd, ret, wrong;

	ret = conf_file_open(path, &fd);
	if (ret)
		return ret;
	r.file = fdopen(fd, "re");
	if (!r.file) {
		close(fd);
		return cannot_read(&r.place, errno);
	}
	wrong = ini_parse_stream(next_line, &r, take_key, &r);
	end_section(&r);
	if (ferror(r.file))
		ret = cannot_read(&r.place, errno);
	/* libinih has found what is not looked for here. */
	if (wrong && !r.errors)
		READER_ERROR(&r, &r.place, "not understood near line %d", wrong);
	*errors += r.errors;
	fclose(r.file);
	free(r.text);
	return ret;
}
