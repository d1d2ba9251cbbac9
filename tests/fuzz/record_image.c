/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as the file of an executable mapping: it is identified or refused, and the bias is
 * computed for any offset. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/elf/binary_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct image im;
	uint64_t bias;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (image_read(&im, fd) == 0) {
		if (!im.load_cnt || strlen(im.build_id) >= IMAGE_ID_CAP)
			abort();
		for (size_t i = 0; i < im.load_cnt && i < 8; i++) {
			image_bias(&im, 0x7f0000000000, im.loads[i].offset & ~4095ULL, &bias);
			image_bias(&im, ~4095ULL, im.loads[i].offset + im.loads[i].file_sz, &bias);
		}
		image_fini(&im);
	}
	close(fd);
	return 0;
}
