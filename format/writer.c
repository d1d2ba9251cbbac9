/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "format/json.h"
#include "format/writer.h"

/* ---- a new archive ---- */

/* A random uuid (RFC 9562, version 4), or the given one. */
static int make_uuid(struct obz_writer *w, const char *given)
{
	uint8_t *u = w->uuid;

	if (given) {
		if (!uuid_get(given, u))
			return -EINVAL;
		memcpy(w->uuid_text, given, UUID_TEXT_SZ);
		return 0;
	}
	if (getrandom(u, 16, 0) != 16)
		return -EIO;
	u[6] = (u[6] & 0x0f) | 0x40;
	u[8] = (u[8] & 0x3f) | 0x80;
	uuid_put(w->uuid_text, u);
	return 0;
}

static int put_json(struct obz_writer *w, const char *name, struct json_object *o)
{
	size_t len;
	char *text = o ? json_seal(o, &len) : NULL;
	int err = text ? 0 : -ENOMEM;

	if (!err && w->max_sz && w->out.bytes + member_out_sz(len) + 1024 > w->max_sz)
		err = w->full_err;
	if (!err)
		err = member_out_put(&w->out, name, text, len);
	free(text);
	return err;
}

/* The caller's object with the writer's own keys first. */
static struct json_object *header_of(struct obz_writer *w, const struct obz_writer_opts *opts)
{
	struct json_object *given = json_parse(opts->header_json, strlen(opts->header_json)), *o,
			   *format;

	if (!given)
		return NULL;
	o = json_object_new_object();
	format = opts->uuid ? json_object_get(json_get(given, "format", json_type_object)) : NULL;
	if (!format) {
		format = json_object_new_object();
		json_object_object_add(format, "major", json_object_new_int(1));
		json_object_object_add(format, "minor", json_object_new_int(0));
		json_object_object_add(format, "required", json_object_new_array());
	}
	json_object_object_add(o, "format", format);
	json_object_object_add(o, "uuid", json_object_new_string(w->uuid_text));
	json_object_object_foreach(given, key,
				   value) if (strcmp(key, "format") && strcmp(key, "uuid"))
		json_object_object_add(o, key, json_object_get(value));
	json_object_put(given);
	return o;
}

static int put_header(struct obz_writer *w, const struct obz_writer_opts *opts)
{
	struct json_object *header = header_of(w, opts), *schema = NULL;
	char *own = NULL;
	int err;

	if (opts->uuid)
		w->out.mtime = json_u64(header, "started_at_ns") / 1000000000;
	err = header ? put_json(w, "obz.json", header) : -EINVAL;
	if (!err && opts->schema_json)
		schema = json_parse(opts->schema_json, strlen(opts->schema_json));
	else if (!err && (own = schema_text(opts->event_kind)))
		schema = json_parse(own, strlen(own));
	if (!err)
		err = schema ? put_json(w, "schema.json", schema) : -EINVAL;
	json_object_put(header);
	json_object_put(schema);
	free(own);
	return err;
}

static void writer_free(struct obz_writer *w)
{
	queue_fini(w);
	member_out_fini(&w->out);
	chunk_encoder_free(w->encoder);
	for (size_t i = 0; i < w->name_cnt; i++)
		free(w->names[i]);
	free(w->names);
	pthread_cond_destroy(&w->due);
	pthread_mutex_destroy(&w->queue_lock);
	pthread_mutex_destroy(&w->write_lock);
	pthread_mutex_destroy(&w->encode_lock);
	free(w);
}

int obz_writer__new(struct obz_writer **out, int fd, const struct obz_writer_opts *opts)
{
	struct obz_writer *w = calloc(1, sizeof(*w));
	int err;

	*out = NULL;
	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->encode_lock, NULL);
	pthread_mutex_init(&w->write_lock, NULL);
	pthread_mutex_init(&w->queue_lock, NULL);
	pthread_cond_init(&w->due, NULL);
	w->max_sz = opts->max_sz;
	w->full_err = opts->full_err ? opts->full_err : OBZ_MAX_SIZE;
	w->zstd_level = opts->zstd_level ? opts->zstd_level : 1;
	queue_init(w);
	w->encoder = chunk_encoder_new(w->zstd_level);
	err = w->encoder ? make_uuid(w, opts->uuid) : -ENOMEM;
	if (!err)
		err = member_out_init(&w->out, fd);
	if (!err)
		err = put_header(w, opts);
	if (err) {
		writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

/* ---- while recording ---- */

static int keep(struct obz_writer *w, enum rec_kind kind, const void *rec, bool last, bool *due)
{
	int err;

	pthread_mutex_lock(&w->queue_lock);
	err = w->err ? w->err : queue_put(w, kind, rec, last);
	if (err && err != -EAGAIN && kind < REC_KIND_MAX && w->kinds[kind].info) {
		queue_dropped(w, kind, rec);
		if (!w->err)
			writer_failed(w, err, "buffering a record");
	}
	*due = writer_is_due(w);
	pthread_mutex_unlock(&w->queue_lock);
	return err;
}

int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	bool due;
	int err = keep(w, kind, rec, false, &due);

	if (err == -EAGAIN) {
		writer_encode(w);
		err = keep(w, kind, rec, true, &due);
	}
	return !err && due ? writer_drain(w) : err;
}

int obz_writer__flush(struct obz_writer *w)
{
	int err = 0, drained;
	bool due;

	pthread_mutex_lock(&w->queue_lock);
	if (!w->err)
		err = queue_seal_all(w);
	due = writer_is_due(w);
	pthread_mutex_unlock(&w->queue_lock);
	drained = due ? writer_drain(w) : w->err;
	return drained ? drained : err;
}

int obz_writer__trim(struct obz_writer *w)
{
	int err = obz_writer__flush(w), drained;

	pthread_mutex_lock(&w->queue_lock);
	queue_trim(w);
	pthread_mutex_unlock(&w->queue_lock);
	/* chunks another thread is handling are written next time */
	if (!pthread_mutex_trylock(&w->encode_lock)) {
		chunk_encoder_trim(w->encoder);
		pthread_mutex_unlock(&w->encode_lock);
	}
	if (!pthread_mutex_trylock(&w->write_lock)) {
		member_out_trim(&w->out);
		pthread_mutex_unlock(&w->write_lock);
	}
	drained = writer_drain(w); /* chunks left by the threads that held a lock */
	return drained ? drained : err;
}

int obz_writer__sync(struct obz_writer *w)
{
	return fdatasync(w->out.fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

uint64_t obz_writer__bytes(const struct obz_writer *w)
{
	return w->out.bytes;
}

const char *obz_writer__uuid(const struct obz_writer *w)
{
	return w->uuid_text;
}

const char *obz_writer__error(const struct obz_writer *w)
{
	return w->error;
}

int obz_writer__refuses(struct obz_writer *w)
{
	bool full = false;

	if (w->err)
		return w->err;
	pthread_mutex_lock(&w->queue_lock);
	for (unsigned s = 0; s < w->stream_cnt; s++)
		full |= w->streams[s].full;
	pthread_mutex_unlock(&w->queue_lock);
	return full ? w->full_err : 0;
}

/* ---- the end ---- */

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

/* Adds rows that were not written to the losses. */
static void add_dropped(struct obz_writer *w, struct json_object *o)
{
	struct json_object *losses = json_get(o, "losses", json_type_array);

	if (!losses) {
		losses = json_object_new_array();
		json_object_object_add(o, "losses", losses);
	}
	for (unsigned k = 0; k < REC_KIND_MAX; k++) {
		uint64_t cnt = k == REC_sample ? w->samples_dropped : w->kinds[k].dropped;
		struct json_object *loss;
		char cause[96];

		if (!cnt)
			continue;
		snprintf(cause, sizeof(cause), "%s: not written", w->kinds[k].info->name);
		loss = json_object_new_object();
		json_object_object_add(loss, "source", json_object_new_string("archive"));
		json_object_object_add(loss, "cause", json_object_new_string(cause));
		add_u64(loss, "count", cnt);
		json_object_array_add(losses, loss);
	}
}

static struct json_object *sizes_of(const struct obz_writer *w)
{
	struct json_object *o = json_object_new_object();

	for (unsigned s = 0; s < w->stream_cnt; s++)
		if (w->streams[s].sz)
			add_u64(o, w->streams[s].name, w->streams[s].sz);
	if (w->debug_sz)
		add_u64(o, "debuginfo", w->debug_sz);
	return o;
}

static struct json_object *end_of(struct obz_writer *w, const char *end_json)
{
	struct json_object *o = json_parse(end_json, strlen(end_json)), *counts;

	if (!o)
		return NULL;
	json_object_object_add(o, "uuid", json_object_new_string(w->uuid_text));
	if (!json_get(o, "complete", json_type_boolean))
		json_object_object_add(o, "complete", json_object_new_boolean(true));
	add_dropped(w, o);
	if (!json_get(o, "records", json_type_object)) {
		counts = json_object_new_object();
		for (unsigned i = 0; i < rec_info_cnt; i++)
			if (w->kinds[rec_infos[i].number].written)
				add_u64(counts, rec_infos[i].name,
					w->kinds[rec_infos[i].number].written);
		json_object_object_add(o, "records", counts);
	}
	if (!json_get(o, "chunks", json_type_object)) {
		counts = json_object_new_object();
		for (unsigned s = 0; s < w->stream_cnt; s++)
			if (w->streams[s].seq)
				add_u64(counts, w->streams[s].name, w->streams[s].seq);
		json_object_object_add(o, "chunks", counts);
	}
	if (!json_get(o, "sizes", json_type_object))
		json_object_object_add(o, "sizes", sizes_of(w));
	add_u64(o, "bytes", w->out.bytes);
	return o;
}

/* Writes everything after the rows. */
static int put_end(struct obz_writer *w, struct json_object *end)
{
	int err = end ? put_json(w, "obz.end.json", end) : -EINVAL, tar;

	if (err) {
		if (!w->err) /* otherwise that is the reason */
			writer_failed(w, err, "obz.end.json");
		return w->err ? w->err : err;
	}
	tar = member_out_end(&w->out);
	/* an archive without the end of the tar file is also complete, unless it is a stream
	 * without a reader */
	return w->out.seekable ? 0 : tar;
}

int obz_writer__finish(struct obz_writer *w)
{
	obz_writer__flush(w);
	writer_finish(w);
	return obz_writer__refuses(w);
}

int obz_writer__close_to(struct obz_writer *w, const char *end_json, struct obz_written *written)
{
	struct json_object *end = NULL;
	int err = 0, fd;

	obz_writer__finish(w);
	w->out.ending = true;
	if (end_json) {
		end = end_of(w, end_json);
		err = put_end(w, end);
	}
	*written = (struct obz_written){.bytes = w->out.bytes, .samples = w->samples};
	if (end)
		written->end_json = strdup(json_object_to_json_string(end));
	json_object_put(end);
	fd = w->out.fd;
	if (err)
		memcpy(written->error, w->error, sizeof(written->error));
	writer_free(w);
	if (close(fd) && !err && errno != EINTR) {
		err = -errno;
		snprintf(written->error, sizeof(written->error), "closing the archive: %s",
			 strerror(-err));
	}
	return err;
}

int obz_writer__close(struct obz_writer *w, const char *end_json)
{
	struct obz_written written;
	int err = obz_writer__close_to(w, end_json, &written);

	free(written.end_json);
	return err;
}
