/* SPDX-License-Identifier: GPL-2.0 */
/* The version of mts, and the one place for it: docs/development.md, "Release". */
#ifndef _MTS_VERSION_H
#define _MTS_VERSION_H

#define MTS_VERSION "0.1.0"

#endif /* _MTS_VERSION_H */
