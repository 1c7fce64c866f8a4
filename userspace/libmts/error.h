/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIBMTS_ERROR_H
#define LIBMTS_ERROR_H

#include <stdbool.h>

/*
 * What a positive errno means of which strerror(3) says something else; NULL: it is as strerror(3)
 * says. @for_users: as mts_is_for_users()
 */
const char *mts_error_text(int err, bool for_users);

#endif /* LIBMTS_ERROR_H */
