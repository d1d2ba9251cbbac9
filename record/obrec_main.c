/* SPDX-License-Identifier: BSD-2-Clause */
/* obrec: options, output, COMMAND and signals for one session. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/text.h"
#include "record/probe/attach.h"
#include "record/probe/probe.h"
#include "record/probe/probe_cpu.h"
#include "record/cli/launch.h"
#include "record/cli/header.h"
#include "record/cli/obrec_options.h"
#include "record/cli/archive_output.h"
#include "record/host/privilege.h"
#include "record/cli/live_progress.h"
#include "record/reader/reader_process.h"
#include "record/host/seccomp.h"
#include "record/session/session.h"

static volatile sig_atomic_t stop_requests, stop_signal;

/* Until the capture begins a signal ends obrec at once, even during a long system call. */
static volatile sig_atomic_t setting_up;
static const struct output *setup_output;
static pid_t setup_command;

static const char interrupted[] = "interrupted before the capture began";

/* Runs in the signal handler: async-signal-safe functions only. The kernel detaches the programs
 * when it closes the descriptors. */
static void abandon(int sig)
{
	struct iovec line[] = {{(char *)"obrec: ", 7},
			       {(char *)interrupted, sizeof(interrupted) - 1},
			       {(char *)"\n", 1}};

	message_status(NULL);
	if (setup_output)
		output_discard(setup_output);
	if (setup_command) {
		kill(setup_command, SIGKILL); /* it is still waiting to be started */
		waitpid(setup_command, NULL, 0);
	}
	_exit(writev(STDERR_FILENO, line, 3) < 0 ? EXIT_FAIL : 128 + sig);
}

static void on_signal(int sig)
{
	if (setting_up)
		abandon(sig);
	stop_signal = sig;
	stop_requests++;
}

static void catch_signals(void)
{
	struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

	sigaddset(&stop.sa_mask, SIGINT);
	sigaddset(&stop.sa_mask, SIGTERM);
	sigaddset(&stop.sa_mask, SIGHUP);
	setting_up = true;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL); /* the write that reaches the limit returns an error */
}

/*
 * Tables of a new binary need megabytes for a short time. With a fixed threshold glibc maps such
 * blocks separately and returns them at once; otherwise it raises the threshold and keeps them,
 * fragmented.
 */
static void bound_heap(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

static int exit_code(int err)
{
	if (err == -PROBE_NOT_THERE)
		return EXIT_USAGE;
	return err == -EPERM || err == -EOPNOTSUPP ? EXIT_UNSUPPORTED : EXIT_FAIL;
}

static void tell_ready(int fd)
{
	if (fd >= 0 && write(fd, "\n", 1) != 1)
		message_warn("--ready-fd %d: %s", fd, strerror(errno));
}

static void restrict_calls(void)
{
#ifndef __SANITIZE_ADDRESS__ /* LeakSanitizer traces this process at exit, from another one */
	int err = seccomp_restrict(SECCOMP_RECORDER);

	if (err)
		message_warn("cannot install the seccomp filter: %s", strerror(-err));
#endif
}

/* Everything from "ready" to the closed archive; *w is NULL once it is closed. */
static int record(struct options *o, struct session *s, struct obz_writer **w,
		  const struct output *out, struct command_child *cmd)
{
	struct obz_written written;
	struct session_status st;
	struct progress progress;
	enum stop_reason reason;
	char *end;
	int lost, err;

	setting_up = false;
	err = session__start(s);

	if (err)
		return exit_code(err);
	privilege_drop_session(o->command);
	restrict_calls();
	tell_ready(o->ready_fd);
	err = o->command ? command_go(cmd) : 0;
	if (err && stop_requests) { /* COMMAND received the signal too */
		message_error("%s", interrupted);
		return 128 + stop_signal;
	}
	if (err) {
		message_error("%s: cannot execute: %s", o->command[0], strerror(-err));
		return err == -ENOENT ? 127 : 126;
	}
	progress_init(&progress, *w, o->record.duration_ns, o->verbosity);
	reason = session__run(s, &stop_requests, progress_tick, &progress);
	session__finish(s, &stop_requests, progress_tick, &progress);
	progress_fini(&progress);
	lost = obz_writer__finish(*w);
	reason = stop_reason_last(reason, lost);
	st = session__status(s);
	end = session__end_json(s, reason);
	err = obz_writer__close_to(*w, end, &written);
	*w = NULL;
	progress_summary(out, &written, &st);
	if (err)
		message_error("%s: %s", out->path, written.error);
	free(written.end_json);
	free(end);
	if (reason == STOP_ERROR)
		return EXIT_FAIL;
	return err || (lost && lost != OBZ_MAX_SIZE) ? EXIT_PARTIAL : EXIT_OK;
}

/* Blocks signals, so that a handler finds the file either created completely or not at all. */
static int open_output(struct output *out, const char *path)
{
	sigset_t stop, before;
	int err;

	sigemptyset(&stop);
	sigaddset(&stop, SIGINT);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGHUP);
	sigprocmask(SIG_BLOCK, &stop, &before);
	err = output_open(out, path);
	setup_output = err ? NULL : out;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

enum { FILE_LIMIT_ROOM = 4 << 10 };

/*
 * The file size limit of the process (ulimit -f) bounds the archive as --max-size does, so that
 * what is captured first is kept. With the reserve for the end, the bound stays below what a write
 * needs.
 */
static void bound_size(struct obz_writer_opts *opts, int fd)
{
	struct rlimit limit;
	struct stat st;
	uint64_t room;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || getrlimit(RLIMIT_FSIZE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur <= FILE_LIMIT_ROOM)
		return;
	room = limit.rlim_cur - FILE_LIMIT_ROOM;
	if (opts->max_sz && opts->max_sz <= room)
		return;
	opts->max_sz = room;
	opts->full_err = -EFBIG;
}

static int open_and_record(struct options *o, int argc, char **argv, struct command_child *cmd,
			   struct nursery *nursery)
{
	struct obz_writer_opts wopts = {.max_sz = o->max_sz};
	struct event_kind event;
	struct obz_writer *w = NULL;
	struct session *s = NULL;
	static struct output out; /* used by the signal handler until the capture begins */
	char *header = NULL;
	struct attach_plan plan;
	int err, rc;

	message_status("checking kernel support");
	err = attach_plan_make(&plan, &o->record);
	if (err)
		return exit_code(err);
	o->record.plan = &plan;
	o->record.probes = plan.probes;
	err = open_output(&out, o->output);
	if (err)
		return EXIT_FAIL;
	bound_size(&wopts, out.fd);
	header = header_json(o, argc, argv);
	wopts.header_json = header;
	if (probe_cpu_event_kind(&o->record, &event))
		wopts.event_kind = &event.kind;
	err = header ? obz_writer__new(&w, out.fd, &wopts) : -ENOMEM;
	free(header);
	if (err) {
		message_error("%s: cannot write the archive: %s", out.path, obz_strerror(err));
		output_discard(&out);
		return EXIT_FAIL;
	}
	err = session__new(&s, &o->record, w, nursery);
	if (err) {
		obz_writer__close(w, NULL);
		output_discard(&out);
		return exit_code(err);
	}
	rc = record(o, s, &w, &out, cmd);
	session__free(s); /* its threads use the writer */
	if (w)
		obz_writer__close(w, NULL);
	if (rc >= 126) /* COMMAND did not start */
		output_discard(&out);
	return rc;
}

int main(int argc, char **argv)
{
	struct command_child cmd = {0};
	struct nursery *nursery;
	static struct options o;
	int rc, status;

	bound_heap();
	message_init("obrec", 0);
	rc = options_parse(&o, argc, argv);
	if (rc)
		return rc < 0 ? EXIT_USAGE : EXIT_OK;
	message_init("obrec", o.verbosity);
	if (o.list)
		return session_list_probes(&o.record);
	/* Before the handlers are installed: COMMAND starts with the signal dispositions given to
	 * obrec. */
	if (o.command) {
		rc = command_prepare(&cmd, o.command);
		if (rc) {
			message_error("%s: cannot fork: %s", o.command[0], strerror(-rc));
			return EXIT_FAIL;
		}
		o.record.command_pid = setup_command = cmd.pid;
		o.record.command = *o.command;
		if (!o.record.target.all) {
			o.pids[0] = cmd.pid;
			o.record.target.pid_cnt = 1;
		}
	}
	catch_signals();
	rc = nursery__new(&nursery, NULL); /* there is only one thread so far */
	if (rc) {
		message_error("cannot fork the reader processes: %s", strerror(-rc));
		rc = EXIT_FAIL;
	} else {
		rc = open_and_record(&o, argc, argv, &cmd, nursery);
		nursery__free(nursery);
	}
	status = command_finish(&cmd);
	return rc ? rc : status;
}
