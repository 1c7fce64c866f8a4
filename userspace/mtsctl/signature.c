// SPDX-License-Identifier: GPL-2.0
/*
 * Kernel modules are signed as scripts/sign-file.c of the kernel does: behind the module a message
 * of PKCS#7 (RFC 2315, RFC 5652), a struct module_signature (linux/module_signature.h), and a mark.
 */
#include "signature.h"

#include <string.h>

#define MARK "~Module signature appended~\n"
#define MARK_SIZE (sizeof(MARK) - 1)
#define INFO_SIZE 12 /* struct module_signature: 8 bytes, and the size, the first byte first */
#define INFO_TYPE 2 /* of them: PKEY_ID_PKCS7 */
#define PKEY_ID_PKCS7 2

/* Tags of DER (X.690). */
#define DER_INTEGER 0x02
#define DER_OID 0x06
#define DER_SEQUENCE 0x30
#define DER_SET 0x31
#define DER_PART(n) (0xa0 + (n)) /* [n] of a sequence */

/*
 * Takes the first element off @rest: its content, and the whole of it, with its tag and size. NULL:
 * it is not asked for. Return: false: it is not complete, or has another tag; @rest is as it was.
 */
static bool take(struct bytes *rest, unsigned char tag, struct bytes *content, struct bytes *whole)
{
	const unsigned char *begin = rest->at;
	size_t head = 2, size;

	if (rest->size < head || rest->at[0] != tag)
		return false;
	size = rest->at[1];
	if (size & 0x80) { /* the size has so many bytes of its own */
		size_t n = size & 0x7f;

		if (n == 0 || n > 3 || rest->size < head + n)
			return false;
		size = 0;
		for (size_t i = 0; i < n; i++)
			size = size << 8 | rest->at[head + i];
		head += n;
	}
	if (size > rest->size - head)
		return false;
	rest->at += head + size;
	rest->size -= head + size;
	if (whole)
		*whole = (struct bytes){ begin, head + size };
	if (content) /* it may be @rest */
		*content = (struct bytes){ begin + head, size };
	return true;
}

/* The common name in a name of X.501: what follows its object identifier, 2.5.4.3. */
static void read_common_name(struct bytes issuer, char name[SIGNER_SIZE])
{
	static const unsigned char id[] = { DER_OID, 3, 0x55, 4, 3 };
	const unsigned char *at = memmem(issuer.at, issuer.size, id, sizeof(id));
	struct bytes rest, text;

	*name = '\0';
	if (!at)
		return;
	rest = (struct bytes){ at + sizeof(id), issuer.at + issuer.size - at - sizeof(id) };
	if (!rest.size || !take(&rest, *rest.at, &text, NULL))
		return;
	if (text.size >= SIGNER_SIZE)
		text.size = SIGNER_SIZE - 1;
	memcpy(name, text.at, text.size);
	name[text.size] = '\0';
}

/* ContentInfo { SignedData { version, digests, content, signers { version, issuer and serial … */
static void read_signer(struct bytes message, struct signature *found)
{
	struct bytes rest = message;

	if (!take(&rest, DER_SEQUENCE, &rest, NULL) || !take(&rest, DER_OID, NULL, NULL) ||
	    !take(&rest, DER_PART(0), &rest, NULL) || !take(&rest, DER_SEQUENCE, &rest, NULL) ||
	    !take(&rest, DER_INTEGER, NULL, NULL) || !take(&rest, DER_SET, NULL, NULL) ||
	    !take(&rest, DER_SEQUENCE, NULL, NULL))
		return;
	take(&rest, DER_PART(0), NULL, NULL); /* certificates, and lists of revoked ones: if any */
	take(&rest, DER_PART(1), NULL, NULL);
	if (!take(&rest, DER_SET, &rest, NULL) || !take(&rest, DER_SEQUENCE, &rest, NULL) ||
	    !take(&rest, DER_INTEGER, NULL, NULL) || !take(&rest, DER_SEQUENCE, &rest, NULL) ||
	    !take(&rest, DER_SEQUENCE, NULL, &found->issuer))
		return;
	if (!take(&rest, DER_INTEGER, NULL, &found->serial)) {
		found->issuer = (struct bytes){ 0 };
		return;
	}
	read_common_name(found->issuer, found->signer);
}

bool signature_read(struct bytes end, struct signature *found)
{
	const unsigned char *info;
	size_t size;

	*found = (struct signature){ 0 };
	if (end.size < MARK_SIZE + INFO_SIZE ||
	    memcmp(end.at + end.size - MARK_SIZE, MARK, MARK_SIZE))
		return false;
	info = end.at + end.size - MARK_SIZE - INFO_SIZE;
	size = (size_t)info[8] << 24 | info[9] << 16 | info[10] << 8 | info[11];
	if (info[INFO_TYPE] == PKEY_ID_PKCS7 && size <= (size_t)(info - end.at))
		read_signer((struct bytes){ info - size, size }, found);
	return true;
}

/* In a certificate the algorithm of its signature is between serial number and issuer. */
bool signature_is_by(const struct signature *signature, struct bytes list)
{
	const struct bytes *serial = &signature->serial, *issuer = &signature->issuer;
	const unsigned char *at;

	while (serial->size && (at = memmem(list.at, list.size, serial->at, serial->size))) {
		struct bytes rest;

		list.size -= at + serial->size - list.at;
		list.at = at + serial->size;
		rest = list;
		if (take(&rest, DER_SEQUENCE, NULL, NULL) && rest.size >= issuer->size &&
		    !memcmp(rest.at, issuer->at, issuer->size))
			return true;
	}
	return false;
}
