/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers of Thrift messages in all forms (see the drawing in thrift.c). */
#ifndef ANALYZE_L7_THRIFT_HEAD_H
#define ANALYZE_L7_THRIFT_HEAD_H

#include "analyze/l7/proto/thrift_value.h"

enum { CALL = 1, REPLY = 2, EXCEPTION = 3, ONEWAY = 4 };
enum { NAME_MAX_LEN = 256 };

enum encoding { STRICT, OLD, COMPACT };

struct thrift_head {
	enum encoding encoding;
	bool framed, header, opaque; /* opaque: transformed (zlib), not parsed */
	uint64_t frame;		     /* total size on the wire; 0: not framed */
	unsigned type;
	uint32_t seqid;
	struct span name;
	const uint8_t *body;
};

enum verdict { HEAD_OK, HEAD_SHORT, HEAD_NOT };

enum verdict thrift_head_of(struct thrift_head *h, const struct l7_view *v);
/* Starts r at the fields of the body, as far as they are in view. False: the frame ends before the
 * body. */
bool thrift_body_of(const struct thrift_head *h, const struct l7_view *v, struct thrift_reader *r);

#endif
