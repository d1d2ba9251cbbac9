/* SPDX-License-Identifier: BSD-2-Clause */
/* MongoDB requests: the command and its collection. */
#include "format/text.h"
#include "analyze/l7/proto/mongodb_message.h"

/* The command, derived from the name of its document sequence. */
static struct span command_of(struct span sequence)
{
	static const char *const of[][2] = {{"documents", "insert"},
					    {"updates", "update"},
					    {"deletes", "delete"},
					    {"ops", "bulkWrite"},
					    {"nsInfo", "bulkWrite"}};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (l7_is(sequence, of[i][0]))
			return (struct span){of[i][1], strlen(of[i][1])};
	return (struct span){"", 0};
}

struct command {
	struct span name, db, collection;
};

/* Does the command's first value name something other than a collection? */
static bool names_other(struct span command)
{
	static const char *const names[] = {"createUser",
					    "updateUser",
					    "dropUser",
					    "usersInfo",
					    "grantRolesToUser",
					    "revokeRolesFromUser",
					    "createRole",
					    "updateRole",
					    "dropRole",
					    "rolesInfo",
					    "grantRolesToRole",
					    "revokeRolesFromRole",
					    "getParameter",
					    "grantPrivilegesToRole",
					    "revokePrivilegesFromRole",
					    "getLog",
					    "configureFailPoint",
					    "setFeatureCompatibilityVersion",
					    "enableSharding",
					    "addShard",
					    "removeShard",
					    NULL};

	for (size_t i = 0; names[i]; i++)
		if (l7_is(command, names[i]))
			return true;
	return false;
}

/* True: everything needed was found. */
static bool read_command(struct bson b, struct command *cmd)
{
	struct bson_field f;
	struct bson inner;

	if (!bson_next(&b, &f))
		return b.ended;
	/* Wrapped query, as used for reads from secondaries. */
	if (f.type == BSON_DOCUMENT && (l7_is(f.name, "$query") || l7_is(f.name, "query"))) {
		bson_inner(&f, &inner);
		return read_command(inner, cmd);
	}
	cmd->name = f.name;
	if (!names_other(f.name))
		cmd->collection = bson_text(&f);
	if (f.type == BSON_DOCUMENT && l7_is(f.name, "explain")) {
		struct command explained = {.name = {"", 0}};

		bson_inner(&f, &inner);
		read_command(inner, &explained);
		cmd->collection = explained.collection;
	}
	while (bson_next(&b, &f)) {
		if (l7_is(f.name, "$db"))
			cmd->db = bson_text(&f);
		else if (l7_is(f.name, "collection") && l7_is(cmd->name, "getMore"))
			cmd->collection = bson_text(&f);
		if (cmd->db.len)
			return true;
	}
	return b.ended;
}

struct span mongodb_bounded(struct span s, size_t max)
{
	return s.p ? (struct span){s.p, s.len < max ? s.len : max} : (struct span){"", 0};
}

/* db.collection; either may be unknown. */
static struct span space_of(struct l7_parser *parser, const struct command *cmd)
{
	struct span db = mongodb_bounded(cmd->db, MONGODB_NAME),
		    coll = mongodb_bounded(cmd->collection, MONGODB_SPACE - MONGODB_NAME - 1);

	/* Commands of the admin database name db.collection. */
	if (!db.len || !coll.len || (l7_is(db, "admin") && memchr(coll.p, '.', coll.len)))
		return coll.len ? coll : db;
	return l7_text(parser, "%.*s.%.*s", (int)db.len, db.p, (int)coll.len, coll.p);
}

static const char *old_name(uint32_t op)
{
	switch (op) {
	case OP_UPDATE:
		return "update";
	case OP_INSERT:
		return "insert";
	case OP_GET_MORE:
		return "getMore";
	case OP_DELETE:
		return "delete";
	case OP_KILL_CURSORS:
		return "killCursors";
	default:
		return "find";
	}
}

static bool is_command_space(struct span space)
{
	return space.len > 5 && !memcmp(space.p + space.len - 5, ".$cmd", 5);
}

bool mongodb_request(struct l7_parser *parser, const struct mongodb_message *q,
		     struct l7_message *m)
{
	struct command cmd = {.name = {"", 0}, .db = {"", 0}, .collection = {"", 0}};
	bool enough = true, command = q->op == OP_MSG || q->op == OP_COMMAND ||
				      (q->op == OP_QUERY && is_command_space(q->space));

	if (q->opaque) {
		m->method = (struct span){"compressed", 10};
	} else if (command) {
		enough = q->found && read_command(q->doc, &cmd);
		if (q->op == OP_QUERY) {
			cmd.db = (struct span){q->space.p, q->space.len - 5};
			enough |= cmd.name.len != 0;
		}
		if (q->op == OP_COMMAND) {
			cmd.db = q->space;
			cmd.name = q->command;
			enough |= cmd.name.len && !q->short_end;
		}
		if (!cmd.name.len)
			cmd.name = command_of(q->sequence);
		m->method = mongodb_bounded(cmd.name, MONGODB_NAME);
		m->target = space_of(parser, &cmd);
	} else {
		const char *name = old_name(q->op);

		m->method = span_of(name);
		m->target = mongodb_bounded(q->space, MONGODB_SPACE);
		enough = q->space.len || q->op == OP_KILL_CURSORS;
	}
	m->type = q->op == OP_QUERY || q->op == OP_GET_MORE || q->op == OP_COMMAND ? L7_REQUEST
										   : L7_ONEWAY;
	if (q->op == OP_MSG)
		m->type = q->flags & MORE_TO_COME ? L7_ONEWAY : L7_REQUEST;
	/* A driver watches its server by one that is answered when the topology changes. */
	m->waits = l7_is(m->method, "hello") || l7_is(m->method, "isMaster") ||
		   l7_is(m->method, "ismaster") || l7_is(m->method, "getMore");
	if (q->compressor)
		m->detail = l7_text(parser, "{\"compressor\":\"%s\"}", q->compressor);
	else if (q->op == OP_MSG && q->flags & EXHAUST_ALLOWED)
		m->detail = (struct span){"{\"exhaust\":true}", 16};
	return enough && !q->opaque && (m->method.len || !q->short_end);
}
