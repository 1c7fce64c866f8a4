/* SPDX-License-Identifier: GPL-2.0 */
/* The signature at the end of a kernel module, and whether a list of certificates has its key. */
#ifndef MTSCTL_SIGNATURE_H
#define MTSCTL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#define SIGNER_SIZE 64
#define SIGNATURE_MAX 8192 /* with its end; a PKCS#7 one of 4096 bits has 1 KiB */

/* Bytes of some other buffer. */
struct bytes {
	const unsigned char *at;
	size_t size;
};

/**
 * struct signature - which key signed: the certificate with that issuer and that serial number
 * @issuer: in DER; empty: the signature does not say (it names the key in another way)
 * @serial: the same
 * @signer: the common name in @issuer, as it is; empty: it has none
 */
struct signature {
	struct bytes issuer;
	struct bytes serial;
	char signer[SIGNER_SIZE];
};

/*
 * Reads what ends the file, at least its last SIGNATURE_MAX bytes if it has as many.
 *
 * Return: false: no signature ends it. @found points into @end.
 */
bool signature_read(struct bytes end, struct signature *found);

/* Is the certificate in the list: of X.509 certificates in DER, one after another or apart? */
bool signature_is_by(const struct signature *signature, struct bytes list);

#endif /* MTSCTL_SIGNATURE_H */
