/* SPDX-License-Identifier: BSD-2-Clause */
/* The properties of MQTT 5 (OASIS MQTT 5.0, 2.2.2.2). */
#ifndef FORMAT_MQTT_PROPERTY_H
#define FORMAT_MQTT_PROPERTY_H

/* Encoding of a property's value: number of bytes; 's': string or binary data; 'p': pair of
 * strings; 'v': varint; 0: no such property. */
static inline char mqtt_property_kind(unsigned id)
{
	static const char kinds[] = {
		[0x01] = 1, [0x02] = 4,	  [0x03] = 's', [0x08] = 's', [0x09] = 's', [0x0b] = 'v',
		[0x11] = 4, [0x12] = 's', [0x13] = 2,	[0x15] = 's', [0x16] = 's', [0x17] = 1,
		[0x18] = 4, [0x19] = 1,	  [0x1a] = 's', [0x1c] = 's', [0x1f] = 's', [0x21] = 2,
		[0x22] = 2, [0x23] = 2,	  [0x24] = 1,	[0x25] = 1,   [0x26] = 'p', [0x27] = 4,
		[0x28] = 1, [0x29] = 1,	  [0x2a] = 1};

	return id < sizeof(kinds) ? kinds[id] : 0;
}

#endif
