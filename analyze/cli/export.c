/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cli/export.h"

#include <errno.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/prometheus.h"
#include "analyze/report/report.h"

/* ---- formats for stacks: profile.h ---- */

static int prepare_stacks(const struct exporter *self, struct load *l, const struct export_opts *o)
{
	return draw_prepare(l, &o->draw, self->sink);
}

static int write_stacks(const struct exporter *self, const struct analysis *a,
			const struct export_opts *o, FILE *out)
{
	return draw_write(a, &o->draw, self->sink, out);
}

#define STACKS(format, ending)                                                                     \
	static const struct exporter export_##format = {.name = #format,                           \
							.suffix = ending,                          \
							.sink = &profile_##format,                 \
							.prepare = prepare_stacks,                 \
							.write = write_stacks}
STACKS(svg, ".flamegraph.svg");
STACKS(folded, ".folded");
STACKS(tree, ".tree.txt");
STACKS(pprof, ".pb.gz");
STACKS(speedscope, ".speedscope.json");

/* ---- other formats ---- */

static int prepare_html(const struct exporter *self, struct load *l, const struct export_opts *o)
{
	int err = draw_prepare(l, &o->draw, &profile_svg_inline);

	return err ? err : report_prepare(l, true);
}

static int write_html(const struct exporter *self, const struct analysis *a,
		      const struct export_opts *o, FILE *out)
{
	return report_write_html(a, &o->draw, o->limit, out);
}

static const struct exporter export_html = {
	.name = "html", .suffix = ".html", .prepare = prepare_html, .write = write_html};

static int prepare_all(const struct exporter *self, struct load *l, const struct export_opts *o)
{
	return report_prepare_all(l);
}

static int write_sqlite(const struct exporter *self, const struct analysis *a,
			const struct export_opts *o, FILE *out)
{
	return store__commit(a->store);
}

static const struct exporter export_sqlite = {.name = "sqlite",
					      .suffix = ".sqlite",
					      .as = OUTPUT_DATABASE,
					      .prepare = prepare_all,
					      .write = write_sqlite};

static int prepare_prometheus(const struct exporter *self, struct load *l,
			      const struct export_opts *o)
{
	return prometheus_prepare(l);
}

static int write_prometheus(const struct exporter *self, const struct analysis *a,
			    const struct export_opts *o, FILE *out)
{
	return prometheus_write(a, out);
}

static const struct exporter export_prometheus = {.name = "prometheus",
						  .suffix = ".prom",
						  .prepare = prepare_prometheus,
						  .write = write_prometheus};

const struct exporter *const exporters[EXPORT_CNT] = {
#define EXPORTER(name, option, what) &export_##name,
#include "analyze/cli/exporters.def"
#undef EXPORTER
};

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; i < EXPORT_CNT; i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

/* ---- several files ---- */

int export_open_database(const struct export_file files[EXPORT_CNT], const char *archive,
			 struct output *database)
{
	for (size_t i = 0; i < EXPORT_CNT; i++)
		if (files[i].wanted && exporters[i]->as == OUTPUT_DATABASE)
			return output_open(database, files[i].path, archive, exporters[i]->suffix,
					   OUTPUT_DATABASE);
	*database = (struct output){.place.dir = -1, .fd = -1};
	return 0;
}

int export_prepare(const struct export_file files[EXPORT_CNT], struct load *l,
		   const struct export_opts *o)
{
	int err = 0;

	for (size_t i = 0; i < EXPORT_CNT && !err; i++)
		if (files[i].wanted)
			err = exporters[i]->prepare(exporters[i], l, o);
	return err;
}

static int write_file(const struct exporter *e, const char *path, const struct analysis *a,
		      const struct export_opts *o, const char *archive)
{
	struct output out;
	int err;

	if (e->as == OUTPUT_DATABASE)
		return e->write(e, a, o, NULL);
	err = output_open(&out, path, archive, e->suffix, e->as);
	return err ? err : output_close(&out, e->write(e, a, o, out.file));
}

int export_write(const struct export_file files[EXPORT_CNT], const struct analysis *a,
		 const struct export_opts *o, const char *archive)
{
	int err = 0;

	for (size_t i = 0; i < EXPORT_CNT && !err; i++)
		if (files[i].wanted)
			err = write_file(exporters[i], files[i].path, a, o, archive);
	return err;
}
