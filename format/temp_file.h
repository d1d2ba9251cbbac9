/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary files, in TMPDIR, /var/tmp or /tmp. */
#ifndef FORMAT_TEMP_FILE_H
#define FORMAT_TEMP_FILE_H

/* Opens a file that has no name and is deleted when it is closed; in memory if there is no room for
 * it elsewhere. Returns the fd or negative errno. */
int temp_file(void);
/* The same in a directory, else as temp_file(). dir_fd -1: none. */
int temp_file_in(int dir_fd);
/* Creates one for those that open files by name: unlink it when that was done. The caller frees the
 * path, which is NULL on failure. */
int temp_file_named(char **path);

#endif
