/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "format/archive.h"

const char *obz_strerror(int err)
{
	return err == OBZ_MAX_SIZE ? "the size limit of the archive is reached"
	       : err == -ETIMEDOUT ? "its reader did not read for 2 s"
	       : err == -EFBIG ? "the file size limit (ulimit -f, or the file system's) is reached"
			       : strerror(-err);
}
