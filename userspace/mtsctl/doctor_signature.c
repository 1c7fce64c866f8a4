// SPDX-License-Identifier: GPL-2.0
/* mtsctl doctor: does the kernel take signed modules only, and does it take mts? */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "host.h"
#include "host_file.h"
#include "program.h"
#include "signature.h"
#include "version.h"

#define VARIABLES "/sys/firmware/efi/efivars/"
#define SECURE_BOOT VARIABLES "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
#define SHIM "-605dab50-e046-4300-abb6-3dd810dd8b23" /* its variables */
#define MOK_WANTED VARIABLES "MokNew" SHIM /* mokutil --import until shim has asked the user */
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define UNPACK_LIMIT_NS (20 * 1000000000ULL)
#define UNPACK_STATUS "case $? in 0|2) printf g;; 127) printf n;; *) printf d;; esac"
#define UNPACK "{ %s -dc \"$1\"; " UNPACK_STATUS "; } | tail -c %d"

/*
 * Keys of the machine's owner (MOK), as shim gives them to the kernel. Longer lists than a variable
 * may be are in the first file only, which only root may read.
 */
static const char *const mok_lists[] = {
	"/sys/firmware/efi/mok-variables/MokListRT",
	VARIABLES "MokListRT" SHIM,
};

/* The certificate of the key with which DKMS signs: of Debian, Fedora and others; of Ubuntu. */
static const char *const dkms_certificates[] = {
	"/var/lib/dkms/mok.pub",
	"/var/lib/shim-signed/mok/MOK.der",
};

/* In DER, around a common name that is alone: lengths, and what kind of name it is. */
#define PLAIN_NAME_SIZE 13

#define N(array) (sizeof(array) / sizeof((array)[0]))

static unsigned char list_buffer[1 << 16], certificate_buffer[SIGNATURE_MAX];

/* Up to the size of the buffer; empty: it cannot be read. */
static struct bytes read_bytes(const char *root, const char *path, unsigned char *buffer,
			       size_t size)
{
	struct bytes bytes = { buffer, 0 };
	char place[PATH_MAX];
	ssize_t got;
	int fd;

	if (snprintf(place, sizeof(place), "%s%s", root, path) >= PATH_MAX)
		return bytes;
	fd = open(place, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return bytes;
	while (bytes.size < size && (got = read(fd, buffer + bytes.size, size - bytes.size)) > 0)
		bytes.size += got;
	close(fd);
	return bytes;
}

/* Its last bytes. */
static struct bytes read_end(const char *path, unsigned char buffer[SIGNATURE_MAX])
{
	struct bytes end = { buffer, 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	off_t size;

	if (fd < 0)
		return end;
	size = lseek(fd, 0, SEEK_END);
	got = pread(fd, buffer, SIGNATURE_MAX, size > SIGNATURE_MAX ? size - SIGNATURE_MAX : 0);
	if (got > 0)
		end.size = got;
	close(fd);
	return end;
}

/* Why it cannot be said what ends a packed module. */
enum unpack_fault {
	UNPACK_GOOD,
	UNPACK_UNKNOWN, /* how it is packed, or it takes too long */
	UNPACK_NO_PROGRAM,
	UNPACK_DAMAGED, /* the program that packs so cannot unpack it */
};

/* NULL: by none that is known. */
static const char *packer_of(const char *path)
{
	static const char *const packers[][2] = { { ".xz", "xz" },
						  { ".zst", "zstd" },
						  { ".gz", "gzip" } };
	const char *suffix = strrchr(path, '.');

	for (size_t i = 0; suffix && i < N(packers); i++)
		if (!strcmp(suffix, packers[i][0]))
			return packers[i][1];
	return NULL;
}

/*
 * The last bytes of a packed one, by the program that packs so. A pipe has the status of tail, so
 * a letter behind the bytes says how the program has ended; 2 is a warning, 127 is the shell's.
 */
static enum unpack_fault unpack_end(const char *path, unsigned char buffer[SIGNATURE_MAX],
				    struct bytes *end)
{
	const char *packer = packer_of(path);
	struct program_answer answer;
	char script[128], how = '\0';
	char *const argv[] = { "sh", "-c", script, "sh", (char *)path, NULL };

	*end = (struct bytes){ buffer, 0 };
	if (!packer || access(path, R_OK))
		return UNPACK_UNKNOWN;
	snprintf(script, sizeof(script), UNPACK, packer, SIGNATURE_MAX + 1);
	if (program_ask(argv, UNPACK_LIMIT_NS, &answer))
		return UNPACK_UNKNOWN;
	if (answer.size && answer.size <= SIGNATURE_MAX + 1) {
		end->size = answer.size - 1;
		memcpy(buffer, answer.output, end->size);
		how = answer.output[end->size];
	}
	free(answer.output);
	switch (how) {
	case 'g':
		return UNPACK_GOOD;
	case 'n':
		return UNPACK_NO_PROGRAM;
	case 'd':
		return UNPACK_DAMAGED;
	default:
		return UNPACK_UNKNOWN;
	}
}

/* ---- what the kernel wants ------------------------------------------------------ */

/* Is the firmware's variable set? Four bytes of attributes come before its value. */
static bool is_secure_boot(void)
{
	unsigned char value[5];

	return read_bytes(host_root(), SECURE_BOOT, value, sizeof(value)).size == sizeof(value) &&
	       value[4] == 1;
}

/* Why the kernel takes signed modules only; NULL: it takes others, too. */
static const char *why_signed(void)
{
	const char *text = host_file_read(LOCKDOWN);
	bool locked = text && (strstr(text, "[integrity]") || strstr(text, "[confidentiality]"));

	if (locked && is_secure_boot())
		return "Secure Boot";
	text = host_file_read("/sys/module/module/parameters/sig_enforce");
	if (text && *text == 'Y')
		return "module.sig_enforce=1";
	if (locked)
		return "lockdown";
	if (!host_file_exists(LOCKDOWN) && is_secure_boot())
		return "Secure Boot is on";
	return NULL;
}

/* ---- whether it has the key ----------------------------------------------------- */

enum trust {
	TRUST_UNKNOWN,
	TRUST_YES,
	TRUST_NO,
};

static bool has_text(struct bytes bytes, const char *text)
{
	return memmem(bytes.at, bytes.size, text, strlen(text));
}

/*
 * Has the kernel a key of this name? Other users than root do not see its keys.
 *
 * Return: TRUST_YES: of this name; not necessarily this one
 */
static enum trust has_name(const char *signer)
{
	struct bytes keys = read_bytes(host_proc(), "/keys", list_buffer, sizeof(list_buffer));
	char name[SIGNER_SIZE + 16];

	if (!has_text(keys, " asymmetri "))
		return TRUST_UNKNOWN;
	snprintf(name, sizeof(name), " asymmetri %s: ", signer);
	return has_text(keys, name) ? TRUST_YES : TRUST_NO;
}

/* Empty: there is none. */
static struct bytes read_dkms_certificate(size_t i)
{
	return read_bytes(host_root(), dkms_certificates[i], certificate_buffer,
			  sizeof(certificate_buffer));
}

static bool is_dkms_enrolled(struct bytes list)
{
	for (size_t i = 0; i < N(dkms_certificates); i++) {
		struct bytes its = read_dkms_certificate(i);

		if (its.size && memmem(list.at, list.size, its.at, its.size))
			return true;
	}
	return false;
}

/* The file of DKMS's certificate that signed; NULL: none of them did. */
static const char *find_dkms_certificate(const struct signature *signature)
{
	for (size_t i = 0; i < N(dkms_certificates); i++)
		if (signature_is_by(signature, read_dkms_certificate(i)))
			return dkms_certificates[i];
	return NULL;
}

/*
 * Is a common name all that the certificate says of its issuer? The kernel shows a key that signed
 * itself by that name; one with more in it may have another name there.
 */
static bool is_plain(const struct signature *signature)
{
	return *signature->signer &&
	       signature->issuer.size == strlen(signature->signer) + PLAIN_NAME_SIZE;
}

/*
 * Will the kernel take this signature? Keys that are built into it, or are the firmware's, have no
 * certificate that could be read: they have names only, which other keys may have, too. Without
 * Secure Boot the kernel does not trust shim's list (load_uefi_certs(), security/integrity).
 *
 * @by_dkms: it is by a key of DKMS
 * @dkms_enrolled: DKMS would sign with a key that is enrolled
 * Return: TRUST_NO only with evidence
 */
static enum trust trust_of(const struct signature *signature, bool by_dkms, bool *dkms_enrolled)
{
	bool listed = false, named = false;
	enum trust by_name;

	*dkms_enrolled = false;
	if (!signature->serial.size || !is_secure_boot())
		return TRUST_UNKNOWN;
	for (size_t i = 0; i < N(mok_lists); i++) {
		struct bytes list =
			read_bytes(host_root(), mok_lists[i], list_buffer, sizeof(list_buffer));

		if (signature_is_by(signature, list))
			return TRUST_YES;
		listed = listed || list.size;
		named = named || has_text(list, signature->signer);
		*dkms_enrolled = *dkms_enrolled || is_dkms_enrolled(list);
	}
	by_name = has_name(signature->signer);
	if (by_name == TRUST_YES && !named)
		return TRUST_UNKNOWN;
	if (by_dkms ? listed || by_name == TRUST_NO : named)
		return TRUST_NO;
	return by_name == TRUST_NO && is_plain(signature) ? TRUST_NO : TRUST_UNKNOWN;
}

/* ---- what to do ----------------------------------------------------------------- */

#define REBOOT "reboot, choose Enroll MOK"
#define BUILD_AGAIN "dkms remove mts/" MTS_VERSION " -k %s; dkms install mts/" MTS_VERSION " -k %s"

/* The key can be enrolled where shim runs. @certificate: of the key that signs; NULL: DKMS's */
static void advise_enrolment(struct doctor *doctor, const char *first, const char *certificate)
{
	if (!host_file_exists("/sys/firmware/efi")) {
		doctor_advise(doctor,
			      "%swithout UEFI no key can be enrolled: boot without "
			      "module.sig_enforce=1 and lockdown=, or use mtsd",
			      first);
		return;
	}
	if (!is_secure_boot()) {
		doctor_advise(doctor,
			      "%skeys that you enrol count with Secure Boot only: switch it on, or "
			      "boot without module.sig_enforce=1 and lockdown=, or use mtsd",
			      first);
		return;
	}
	if (host_file_exists(MOK_WANTED)) {
		doctor_advise(doctor, "%sa key waits for your consent: " REBOOT, first);
		return;
	}
	for (size_t i = N(dkms_certificates); !certificate && i--;)
		if (!i || host_file_exists("%s", dkms_certificates[i]))
			certificate = dkms_certificates[i];
	doctor_advise(doctor, "%smokutil --import %s; " REBOOT "; or use mtsd", first, certificate);
}

static void find_unsigned(struct doctor *doctor, const char *release, const char *why)
{
	char first[FINDING_SIZE] = "sign it (DKMS does); ";

	doctor_find(doctor, doctor_module_level(doctor), "signature",
		    "mts.ko is not signed, and this kernel takes signed modules only (%s)", why);
	if (doctor_has_dkms_sources())
		snprintf(first, sizeof(first),
			 "install openssl, with which DKMS signs; " BUILD_AGAIN "; ", release,
			 release);
	advise_enrolment(doctor, first, NULL);
}

static void find_signed(struct doctor *doctor, const char *release, const char *why,
			const struct signature *signature)
{
	const char *signer = *signature->signer ? signature->signer : "a key";
	const char *by_dkms = find_dkms_certificate(signature);
	char first[FINDING_SIZE] = "";
	bool dkms_enrolled;

	switch (trust_of(signature, by_dkms, &dkms_enrolled)) {
	case TRUST_YES:
		doctor_find(doctor, FINDING_OK, "signature",
			    "signed modules only (%s); the key of mts.ko (%s) is enrolled", why,
			    signer);
		return;
	case TRUST_NO:
		doctor_find(
			doctor, doctor_module_level(doctor), "signature",
			"this kernel takes signed modules only (%s), and the key of mts.ko (%s) "
			"is not enrolled",
			why, signer);
		if (!by_dkms && doctor_has_dkms_sources())
			snprintf(first, sizeof(first), BUILD_AGAIN "; ", release, release);
		if (dkms_enrolled)
			doctor_advise(doctor, "sign it with DKMS's key, which is: " BUILD_AGAIN,
				      release, release);
		else
			advise_enrolment(doctor, first, by_dkms);
		return;
	case TRUST_UNKNOWN:
		doctor_find(doctor, FINDING_NOTE, "signature",
			    "this kernel takes signed modules only (%s); mts.ko is signed (%s)",
			    why, signer);
		advise_enrolment(doctor, "if it does not load: ", by_dkms);
		return;
	}
}

static void find_unreadable(struct doctor *doctor, const char *why, const char *because)
{
	doctor_find(doctor, FINDING_NOTE, "signature",
		    "this kernel takes signed modules only (%s); mts.ko cannot be read%s", why,
		    because);
	doctor_advise(doctor, "modinfo -F signer mts says which key has signed it");
}

/* Whether it is signed is not known then. */
static void find_packed_fault(struct doctor *doctor, const char *release, const char *why,
			      const char *path, enum unpack_fault fault)
{
	const char *packer = packer_of(path);
	char because[64];

	switch (fault) {
	case UNPACK_DAMAGED:
		doctor_find(doctor, doctor_module_level(doctor), "signature",
			    "%s cannot unpack %s: it is damaged", packer, strrchr(path, '/') + 1);
		if (doctor_has_dkms_sources())
			doctor_advise(doctor, BUILD_AGAIN, release, release);
		else
			doctor_advise(doctor, "install it again");
		return;
	case UNPACK_NO_PROGRAM:
		snprintf(because, sizeof(because), ": %s is not installed", packer);
		find_unreadable(doctor, why, because);
		return;
	default:
		find_unreadable(doctor, why, ": it is packed");
		return;
	}
}

static void find_signature(struct doctor *doctor, const char *why)
{
	char release[RELEASE_SIZE], module[PATH_MAX], path[PATH_MAX];
	enum unpack_fault fault = UNPACK_GOOD;
	unsigned char buffer[SIGNATURE_MAX];
	struct signature signature;
	struct bytes end;

	doctor_read_release(release);
	if (!doctor_find_module(release, module)) {
		doctor_find(doctor, FINDING_NOTE, "signature",
			    "this kernel takes signed modules only (%s)", why);
		advise_enrolment(doctor, "when it is built: ", NULL);
		return;
	}
	if (snprintf(path, sizeof(path), "%s/lib/modules/%s/%s", host_root(), release, module) >=
	    PATH_MAX)
		return;
	if (strcmp(module + strlen(module) - strlen(".ko"), ".ko"))
		fault = unpack_end(path, buffer, &end);
	else
		end = read_end(path, buffer);
	if (fault)
		find_packed_fault(doctor, release, why, path, fault);
	else if (!end.size)
		find_unreadable(doctor, why, "");
	else if (signature_read(end, &signature))
		find_signed(doctor, release, why, &signature);
	else
		find_unsigned(doctor, release, why);
}

void doctor_check_signature(struct doctor *doctor)
{
	const char *why;

	if (doctor->wants_mtsd || !host_file_exists("/proc/modules"))
		return;
	why = why_signed();
	if (why && doctor->is_loaded)
		doctor_find(doctor, FINDING_OK, "signature",
			    "signed modules only (%s), and the kernel has taken mts", why);
	else if (why)
		find_signature(doctor, why);
	else if (!doctor->is_loaded)
		doctor_find(doctor, FINDING_OK, "signature", "not required by this kernel");
}
