/* SPDX-License-Identifier: BSD-2-Clause */
/* Output files for other programs. A format is one `const struct exporter` and one line in
 * exporters.def. */
#ifndef ANALYZE_EXPORT_H
#define ANALYZE_EXPORT_H

#include "analyze/load/analysis.h"
#include "analyze/graph/draw.h"
#include "analyze/cli/output.h"

struct export_opts {
	struct draw_opts draw;
	uint64_t limit; /* rows of the longer tables of a report */
};

struct exporter {
	const char *name;		 /* "pprof" */
	const char *suffix;		 /* file name suffix: ".pb.gz" */
	enum output_as as;		 /* OUTPUT_DATABASE: the store itself is the file */
	const struct profile_sink *sink; /* for formats that contain stacks */
	/* Adds the tables it reads. Called before load__run. 0 or negative errno. */
	int (*prepare)(const struct exporter *self, struct load *l, const struct export_opts *o);
	/* Called after load__run. 0 or negative errno, reported. out: NULL for a database. */
	int (*write)(const struct exporter *self, const struct analysis *a,
		     const struct export_opts *o, FILE *out);
};

enum exporter_number {
#define EXPORTER(name, option, what) EXPORT_##name,
#include "analyze/cli/exporters.def"
#undef EXPORTER
	EXPORT_CNT,
};
extern const struct exporter *const exporters[EXPORT_CNT];

/* By name; NULL: none. */
const struct exporter *exporter_find(const char *name);

/* A file to write. path NULL: beside the archive. */
struct export_file {
	bool wanted;
	const char *path;
};

/* Opens the database if it is among the files. Its path is passed to analysis__open. */
int export_open_database(const struct export_file files[EXPORT_CNT], const char *archive,
			 struct output *database);
int export_prepare(const struct export_file files[EXPORT_CNT], struct load *l,
		   const struct export_opts *o);
int export_write(const struct export_file files[EXPORT_CNT], const struct analysis *a,
		 const struct export_opts *o, const char *archive);

extern const struct exporter export_json;

#endif
