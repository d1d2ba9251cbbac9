/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DNS (RFC 1035) over UDP and TCP, mDNS and LLMNR.
 *
 *   message    id:16 flags:16 qdcount:16 ancount:16 nscount:16 arcount:16, question, records
 *   question   name type:16 class:16          name: labels, or a pointer to an earlier place
 *   record     name type:16 class:16 ttl:32 length:16 bytes        over TCP: length:16 message
 *
 * Paired by id and question. The messages of a zone transfer (AXFR) are one response. Every
 * response code other than NOERROR counts as an error, like a 4xx status in HTTP: the client did
 * not get what it asked for. The status distinguishes NXDOMAIN from SERVFAIL.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analyze/l7/engine/l7.h"

enum {
	HEAD = 12,
	NAME_MAX_SZ = 255, /* RFC 1035 3.1 */
	LABEL_MAX = 63,
	JUMPS_MAX = 32,
	RECORDS_MAX = 4096,
	TYPE_SOA = 6,
	TYPE_OPT = 41,
	TYPE_TKEY = 249,
	TYPE_AXFR = 252,
	NETBIOS_SZ = 32,
	RECENT = 16,
};

enum opcode { QUERY = 0, IQUERY = 1, STATUS = 2, NOTIFY = 4, UPDATE = 5, DSO = 6 };

/* A zone transfer in progress: messages up to a second copy of the first SOA record (RFC 5936
 * 2.2). */
struct transfer {
	uint64_t key; /* 0: none */
	uint64_t first_ns, last_ns, pos, size;
	unsigned answers, soas;
	uint16_t id;
};

struct dns {
	struct transfer transfer;
	/* The last questions, for answers that come without a question. */
	struct {
		uint16_t id;
		uint64_t key;
	} recent[RECENT];
	unsigned recent_at;
	char target[NAME_MAX_SZ * 4 + 1], method[16], status[16];
};

/* The captured part of a message. */
struct message {
	const uint8_t *p;
	size_t len; /* bytes captured */
	bool whole; /* all bytes were captured */
	uint16_t id, flags, questions, counts[3];
	uint16_t type, class;
	char name[NAME_MAX_SZ * 4 + 1];
	size_t name_sz;
	bool has_question;
	bool has_name; /* of its first record, if there is no question */
	bool edns;
	uint16_t udp_size;
	uint8_t extended; /* upper bits of the response code */
	bool dnssec_ok;
	bool exact; /* complete, and the records end at its end */
	unsigned answers, soas;			    /* soas: SOA records among the answers */
	uint16_t record, first_answer, last_answer; /* record types; record: the current one */
};

static uint16_t be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

/* ---- names ---- */

/* Writes the octets of a label as text (RFC 4343 2.1), in lower case, because names are
 * case-insensitive. */
static size_t label_text(char *dst, const uint8_t *p, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (p[i] == '.' || p[i] == '\\')
			dst[n++] = '\\', dst[n++] = p[i];
		else if (isgraph(p[i]))
			dst[n++] = tolower(p[i]);
		else
			n += sprintf(dst + n, "\\%03u", p[i]);
	}
	return n;
}

enum name { NAME_GOOD, NAME_SHORT, NAME_BAD };

/*
 * Reads the name at *at and moves *at past it. Pointers only lead backwards, so the loop ends.
 * `text` (NULL: not wanted) must have room for four octets per octet of the name.
 */
static enum name read_name(const struct message *m, size_t *at, char *text, size_t *text_sz)
{
	size_t i = *at, sz = 0, n = 0, lowest = i;
	bool jumped = false;

	for (unsigned jumps = 0; jumps < JUMPS_MAX;) {
		uint8_t c;

		if (i >= m->len)
			return NAME_SHORT;
		c = m->p[i];
		if (c >= 0xc0) {
			size_t to;

			if (i + 1 >= m->len)
				return NAME_SHORT;
			to = (c & 0x3f) << 8 | m->p[i + 1];
			if (to < HEAD || to >= lowest)
				return NAME_BAD;
			if (!jumped)
				*at = i + 2;
			jumped = true;
			lowest = i = to;
			jumps++;
			continue;
		}
		if (c > LABEL_MAX || (sz += c + 1) > NAME_MAX_SZ)
			return NAME_BAD;
		if (!c)
			break;
		if (i + 1 + c > m->len)
			return NAME_SHORT;
		if (text && n)
			text[n++] = '.';
		if (text)
			n += label_text(text + n, m->p + i + 1, c);
		i += 1 + c;
	}
	if (i >= m->len || m->p[i])
		return NAME_BAD; /* too many pointers */
	if (!jumped)
		*at = i + 1;
	if (text && !n)
		text[n++] = '.';
	if (text_sz)
		*text_sz = n;
	return NAME_GOOD;
}

/* ---- the message ---- */

static bool known_class(unsigned class)
{
	class &= 0x7fff; /* mDNS: top bit requests a unicast response or a cache flush */
	return class == 1 || class == 3 || class == 4 || class == 254 || class == 255;
}

static bool known_opcode(unsigned opcode)
{
	return opcode <= DSO && opcode != 3 && opcode != IQUERY;
}

static enum name read_question(struct message *m, size_t *at)
{
	enum name n = read_name(m, at, m->has_question ? NULL : m->name,
				m->has_question ? NULL : &m->name_sz);

	if (n)
		return n;
	if (*at + 4 > m->len)
		return NAME_SHORT;
	if (!m->has_question) {
		m->type = be16(m->p + *at);
		m->class = be16(m->p + *at + 2);
		m->has_question = true;
	}
	if (!be16(m->p + *at) || !known_class(be16(m->p + *at + 2)))
		return NAME_BAD;
	*at += 4;
	return NAME_GOOD;
}

static enum name read_record(struct message *m, size_t *at)
{
	bool first = !m->has_question && !m->has_name;
	enum name n = read_name(m, at, first ? m->name : NULL, first ? &m->name_sz : NULL);
	const uint8_t *p = m->p + *at;

	if (n)
		return n;
	if (*at + 10 > m->len)
		return NAME_SHORT;
	m->record = be16(p);
	if (first)
		m->type = m->record;
	m->has_name |= first;
	if (be16(p) == TYPE_OPT) {
		m->edns = true;
		m->udp_size = be16(p + 2);
		m->extended = p[4];
		m->dnssec_ok = p[6] & 0x80;
	} else if (!known_class(be16(p + 2)) && (m->flags >> 11 & 15) != UPDATE) {
		return NAME_BAD;
	}
	*at += 10 + be16(p + 8);
	return *at > m->len ? NAME_SHORT : NAME_GOOD;
}

/* NetBIOS name service (RFC 1002 4.2) has the same format: names of 16 octets, each as two letters
 * from A to P (RFC 1001 14.1), of type NB or NBSTAT. */
static bool is_netbios(const struct message *m)
{
	const uint8_t *p = m->p + HEAD, *end = m->p + m->len;

	if (m->len < HEAD + 1 + NETBIOS_SZ || *p++ != NETBIOS_SZ)
		return false;
	for (size_t i = 0; i < NETBIOS_SZ; i++, p++)
		if (*p < 'A' || *p > 'P')
			return false;
	while (p < end && *p && *p <= LABEL_MAX) /* skip the scope */
		p += 1 + *p;
	return end - p < 3 || (!p[1] && (p[2] == 0x20 || p[2] == 0x21));
}

/* Parses a message, as far as it was captured. False: not DNS. */
static bool read_message(struct message *m)
{
	enum name n = NAME_GOOD;
	size_t at = HEAD;
	unsigned records;

	if (m->len < HEAD)
		return false;
	m->id = be16(m->p);
	m->flags = be16(m->p + 2);
	m->questions = be16(m->p + 4);
	for (int i = 0; i < 3; i++)
		m->counts[i] = be16(m->p + 6 + 2 * i);
	/* A reserved bit must be zero, and queries have no response code. */
	if (m->flags & 0x40 || !known_opcode(m->flags >> 11 & 15) ||
	    (!(m->flags & 0x8000) && m->flags & 15) || m->questions > 64 || is_netbios(m))
		return false;
	records = m->counts[0] + m->counts[1] + m->counts[2];
	if (records > RECORDS_MAX)
		return false;
	for (unsigned i = 0; i < m->questions && !n; i++)
		n = read_question(m, &at);
	for (unsigned i = 0; i < records && !n; i++) {
		n = read_record(m, &at);
		if (i >= m->counts[0])
			continue;
		m->soas += m->record == TYPE_SOA;
		m->last_answer = m->record;
		m->first_answer = i ? m->first_answer : m->record;
	}
	m->answers = m->counts[0];
	if (n == NAME_BAD || (n == NAME_SHORT && m->whole))
		return false;
	m->exact = !n && m->whole && at == m->len;
	return true;
}

/* Finds the message in view; over TCP after its length. */
static void frame(const struct l7_view *v, struct message *m, uint64_t *total)
{
	size_t skip = v->datagram ? 0 : 2;

	*total = v->datagram ? v->known : v->len < 2 ? 2 : 2 + (uint64_t)be16(v->p);
	m->p = v->p + (v->len < skip ? v->len : skip);
	m->len = v->len < skip ? 0 : (v->len < *total ? v->len : *total) - skip;
	m->whole = m->len + skip == *total;
}

/* ---- names of numbers ---- */

static struct span type_name(unsigned type, char *buf, size_t sz)
{
	static const struct {
		uint16_t type;
		const char *name;
	} types[] = {
		{1, "A"},	    {2, "NS"},	  {5, "CNAME"},	  {6, "SOA"},	   {12, "PTR"},
		{13, "HINFO"},	    {15, "MX"},	  {16, "TXT"},	  {17, "RP"},	   {18, "AFSDB"},
		{24, "SIG"},	    {25, "KEY"},  {28, "AAAA"},	  {29, "LOC"},	   {33, "SRV"},
		{35, "NAPTR"},	    {37, "CERT"}, {39, "DNAME"},  {43, "DS"},	   {44, "SSHFP"},
		{46, "RRSIG"},	    {47, "NSEC"}, {48, "DNSKEY"}, {49, "DHCID"},   {50, "NSEC3"},
		{51, "NSEC3PARAM"}, {52, "TLSA"}, {59, "CDS"},	  {60, "CDNSKEY"}, {64, "SVCB"},
		{65, "HTTPS"},	    {99, "SPF"},  {249, "TKEY"},  {250, "TSIG"},   {251, "IXFR"},
		{252, "AXFR"},	    {255, "ANY"}, {256, "URI"},	  {257, "CAA"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == type)
			return (struct span){types[i].name, strlen(types[i].name)};
	return (struct span){buf, snprintf(buf, sz, "TYPE%u", type)};
}

static struct span code_name(unsigned code, char *buf, size_t sz)
{
	static const char *const names[] = {
		"NOERROR",  "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP",   "REFUSED",
		"YXDOMAIN", "YXRRSET", "NXRRSET",  "NOTAUTH",  "NOTZONE",  "DSOTYPENI",
		NULL,	    NULL,      NULL,	   NULL,       "BADVERS",  "BADKEY",
		"BADTIME",  "BADMODE", "BADNAME",  "BADALG",   "BADTRUNC", "BADCOOKIE"};
	const char *name = code < sizeof(names) / sizeof(names[0]) ? names[code] : NULL;

	if (name)
		return (struct span){name, strlen(name)};
	return (struct span){buf, snprintf(buf, sz, "RCODE%u", code)};
}

/* ---- pairing ---- */

/* FNV-1a of the question, combined with the id. */
static uint64_t key_of(const struct message *m)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; i < m->name_sz; i++)
		h = (h ^ (uint8_t)m->name[i]) * 0x100000001b3ULL;
	h = (h ^ m->type) * 0x100000001b3ULL;
	return h << 16 | m->id;
}

static void remember(struct dns *d, uint16_t id, uint64_t key)
{
	unsigned at = d->recent_at++ % RECENT;

	d->recent[at].id = id;
	d->recent[at].key = key;
}

/* For a response without a question (FORMERR, some REFUSED): the last question with that id. */
static uint64_t recall(const struct dns *d, uint16_t id)
{
	for (unsigned i = 1; i <= RECENT; i++) {
		unsigned at = (d->recent_at - i) % RECENT;

		if (d->recent[at].id == id && d->recent[at].key)
			return d->recent[at].key;
	}
	return id;
}

/* ---- parse ---- */

static void fill_detail(struct l7_parser *parser, const struct message *m, bool response,
			struct l7_message *out)
{
	struct span json = {"", 0};

	if (response)
		json = l7_text(parser, "{\"answers\":%u%s%s", m->answers,
			       m->flags & 0x200 ? ",\"truncated\":true" : "",
			       m->flags & 0x400 ? ",\"authoritative\":true" : "");
	if (m->edns)
		json = l7_text(parser, "%.*s%s\"edns\":%u%s", (int)json.len, json.p,
			       json.len ? "," : "{", m->udp_size,
			       m->dnssec_ok ? ",\"dnssec_ok\":true" : "");
	if (json.len)
		json = l7_text(parser, "%.*s}", (int)json.len, json.p);
	out->detail = json;
}

static void fill(struct l7_parser *parser, const struct message *m, struct l7_message *out)
{
	static const char *const opcodes[] = {"",	"IQUERY", "STATUS", "",
					      "NOTIFY", "UPDATE", "DSO"};
	struct dns *d = parser->state;
	unsigned opcode = m->flags >> 11 & 15, code = m->flags & 15;
	bool response = m->flags & 0x8000;

	out->type = response ? L7_RESPONSE : L7_REQUEST;
	if (m->has_question || m->has_name) {
		memcpy(d->target, m->name, m->name_sz);
		out->target = (struct span){d->target, m->name_sz};
		out->method = type_name(m->type, d->method, sizeof(d->method));
	}
	if (opcode && opcode <= DSO)
		out->method = (struct span){opcodes[opcode], strlen(opcodes[opcode])};
	out->id = m->has_question ? key_of(m) : recall(d, m->id);
	if (!response && m->has_question)
		remember(d, m->id, out->id);
	if (response) {
		code |= m->edns ? m->extended << 4 : 0;
		out->status = code_name(code, d->status, sizeof(d->status));
		out->is_error = code != 0;
	}
	/* mDNS: announcements and multicast queries have no id or question to pair by. */
	if (!m->id && !m->has_question)
		out->type = L7_ONEWAY;
	fill_detail(parser, m, response, out);
}

static void end_transfer(struct transfer *t, struct l7_message *out)
{
	out->type = L7_RESPONSE;
	out->id = t->key;
	out->first_ns = t->first_ns;
	out->pos = t->pos;
	out->size = t->size;
	t->key = 0;
}

/* Delivers a transfer whose end is unknown. */
static void deliver_transfer(struct l7_parser *parser)
{
	struct transfer *t = &((struct dns *)parser->state)->transfer;
	struct l7_message m = {
		.last_ns = t->last_ns, .dir = !l7_requests_dir(parser), .status = {"NOERROR", 7}};

	if (!t->key)
		return;
	m.detail = l7_text(parser, "{\"answers\":%u}", t->answers);
	end_transfer(t, &m);
	l7_partial(parser, &m);
	l7_deliver(parser, &m);
}

/* The messages of a zone transfer are one response. */
static void follow_transfer(struct l7_parser *parser, const struct l7_view *v, struct message *m,
			    uint64_t total, struct l7_message *out)
{
	struct transfer *t = &((struct dns *)parser->state)->transfer;
	bool goes_on = t->key && m->id == t->id && (!m->has_question || key_of(m) == t->key),
	     begins = !goes_on && m->has_question && m->type == TYPE_AXFR && !out->is_error &&
		      m->first_answer == TYPE_SOA && l7_pending(parser, out->id);

	if (begins) {
		deliver_transfer(parser);
		*t = (struct transfer){
			.key = out->id, .id = m->id, .first_ns = v->ts_ns, .pos = v->pos};
	} else if (!goes_on) {
		return;
	}
	t->last_ns = v->ts_ns;
	t->size += total;
	t->answers += m->answers;
	t->soas += m->soas;
	if (!out->is_error && m->exact && (t->soas < 2 || m->last_answer != TYPE_SOA)) {
		*out = (struct l7_message){0};
		return;
	}
	m->answers = t->answers;
	fill_detail(parser, m, true, out);
	end_transfer(t, out);
	if (!m->exact)
		l7_partial(parser, out);
}

static void dns_hole(struct l7_parser *parser, bool requests)
{
	if (!requests)
		deliver_transfer(parser);
}

static int64_t dns_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *out)
{
	struct message m = {0};
	uint64_t total;

	if (!v->datagram && v->len < 2)
		return L7_PARTIAL;
	frame(v, &m, &total);
	if (!v->datagram && total < 2 + HEAD)
		return L7_BAD;
	if (!m.whole && !v->cut && !v->last && !v->datagram)
		return L7_PARTIAL;
	if (!read_message(&m))
		return m.len < HEAD && v->cut ? L7_PARTIAL : L7_BAD;
	fill(parser, &m, out);
	if (m.flags & 0x8000 && !v->datagram)
		follow_transfer(parser, v, &m, total, out);
	return total;
}

/* ---- bidding ---- */

/* BEGINS: possibly a response that continues in the next call. */
enum shape { OTHER, NOTHING, BEGINS, SURE };

/* Can the answer records belong to the question? */
static bool tells(const struct message *m)
{
	unsigned opcode = m->flags >> 11 & 15;

	return opcode == UPDATE || opcode == NOTIFY || m->type == TYPE_TKEY || !m->id;
}

static enum shape looks_like(const struct l7_view *v, bool *response, uint16_t *id)
{
	struct message m = {0};
	uint64_t total;

	if (!v->len)
		return NOTHING;
	frame(v, &m, &total);
	/* Many programs read or write the length in a separate call. */
	if (!v->datagram && v->known == 2 && v->len == 2)
		return total >= 2 + HEAD + 5 ? NOTHING : OTHER;
	if (!read_message(&m) || (!m.has_question && !m.counts[0]))
		return OTHER;
	*response = m.flags & 0x8000;
	*id = m.id;
	/* If the size differs from that of the call, it may be a coincidence. */
	if (!v->datagram && total > v->known)
		return *response && m.has_question && m.counts[0] ? BEGINS : OTHER;
	if (!*response && m.counts[0] && !tells(&m))
		return OTHER;
	return m.exact || (!m.whole && m.has_question && m.questions == 1) ? SURE : OTHER;
}

static int dns_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	bool sends = false, receives = false;
	uint16_t sent_id = 0, received_id = 0;
	enum shape s = looks_like(sent, &sends, &sent_id),
		   r = looks_like(received, &receives, &received_id);

	if (s == SURE && r == BEGINS)
		r = !sends && sent_id == received_id ? SURE : OTHER;
	if (r == SURE && s == BEGINS)
		s = !receives && sent_id == received_id ? SURE : OTHER;
	/* A query is recognized whatever the other side sends. */
	if ((s == SURE && !sends && r == OTHER) || (r == SURE && !receives && s == OTHER)) {
		*requests_sent = s == SURE;
		return 72;
	}
	if (s == OTHER || r == OTHER || s == BEGINS || r == BEGINS ||
	    (s == NOTHING && r == NOTHING))
		return 0;
	if (s == SURE && r == SURE) {
		if (sends == receives)
			return 60;
		*requests_sent = receives;
		return 95;
	}
	*requests_sent = s == SURE ? !sends : receives;
	return 75;
}

const struct l7_protocol l7_dns = {
	.name = "dns",
	.bid = dns_bid,
	.parse = dns_parse,
	.hole = dns_hole,
	.finish = deliver_transfer,
	.state_sz = sizeof(struct dns),
	.pair_by_id = true,
	.datagrams = true,
	.ports = {53, 5353, 5355},
};
