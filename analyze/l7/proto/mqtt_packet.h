/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of MQTT, and the bid on them. */
#ifndef ANALYZE_L7_MQTT_PACKET_H
#define ANALYZE_L7_MQTT_PACKET_H

#include "analyze/l7/engine/l7.h"

enum mqtt_packet {
	MQTT_CONNECT = 1,
	MQTT_CONNACK,
	MQTT_PUBLISH,
	MQTT_PUBACK,
	MQTT_PUBREC,
	MQTT_PUBREL,
	MQTT_PUBCOMP,
	MQTT_SUBSCRIBE,
	MQTT_SUBACK,
	MQTT_UNSUBSCRIBE,
	MQTT_UNSUBACK,
	MQTT_PINGREQ,
	MQTT_PINGRESP,
	MQTT_DISCONNECT,
	MQTT_AUTH,
};

enum { MQTT_5 = 5, MQTT_REFUSED = 0x80, MQTT_TOPICS = 4 };

struct mqtt_head {
	enum mqtt_packet type;
	unsigned flags;
	uint64_t size; /* of the whole packet */
	struct l7_cursor body;
};

enum mqtt_at { MQTT_IS, MQTT_SHORT, MQTT_NOT };
/* Parses the packet at p, of which `len` bytes are in view. */
enum mqtt_at mqtt_head_at(struct mqtt_head *h, const uint8_t *p, size_t len);

const char *mqtt_name(enum mqtt_packet type);
const char *mqtt_reason(unsigned code);	     /* NULL: unknown */
bool mqtt_is_clients(enum mqtt_packet type); /* sent only by clients */
bool mqtt_is_servers(enum mqtt_packet type);

struct span mqtt_string(struct l7_cursor *c);
bool mqtt_is_topic(struct span s, bool filter);
/* Skips the properties of version 5. False: not properties. */
bool mqtt_properties(struct l7_cursor *c, unsigned *alias);
/* Reads the topics after the packet id, each followed by `option` bytes; in version 5 properties
 * come first. Returns the first MQTT_TOPICS topics and the number of all. False: malformed. */
bool mqtt_filters(struct l7_cursor c, bool v5, unsigned option, struct span *topics, unsigned *cnt);

size_t mqtt_resync(const struct l7_view *v, size_t from);
int mqtt_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);

#endif
