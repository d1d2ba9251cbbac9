/* SPDX-License-Identifier: BSD-2-Clause */
/* Cgroup paths as runtimes form them, and the container id in each; one row a case. */
#include <stdio.h>
#include <string.h>

#include "record/host/container.h"
#include "format/text.h"

#define H64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define G64 "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define H32 "977ab000acdd85a6b76576f66afe5118"
#define POD "pod7d4a2b1e-1111-2222-3333-444455556666"

static const struct {
	const char *cause, *path, *id;
} rows[] = {
	{"docker, cgroupfs", "/docker/" H64, H64},
	{"docker, systemd", "/system.slice/docker-" H64 ".scope", H64},
	{"docker, systemd, process below", "/system.slice/docker-" H64 ".scope/init", H64},
	{"docker in docker", "/docker/" H64 "/docker/" G64, G64},
	{"kubernetes, cgroupfs", "/kubepods/burstable/" POD "/" H64, H64},
	{"kubernetes, containerd",
	 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice/"
	 "cri-containerd-" H64 ".scope",
	 H64},
	{"kubernetes, cri-o", "/kubepods.slice/kubepods-pod1_2.slice/crio-" H64 ".scope", H64},
	{"cri-o's monitor", "/kubepods.slice/kubepods-pod1_2.slice/crio-conmon-" H64 ".scope", ""},
	{"containerd, slice:prefix:name",
	 "/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" H64, H64},
	{"podman", "/machine.slice/libpod-" H64 ".scope", H64},
	{"podman, container below", "/machine.slice/libpod-" H64 ".scope/container", H64},
	{"podman's monitor", "/machine.slice/libpod-conmon-" H64 ".scope", ""},
	{"podman, rootless",
	 "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" H64 ".scope", H64},
	{"ecs", "/ecs/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/" H64, H64},
	{"fargate", "/ecs/" H32 "/" H32 "-2574839563", H32 "-2574839563"},
	{"32 digits", "/process_api/" H32, H32},
	{"lxc", "/lxc/web01", "web01"},
	{"lxc, payload", "/lxc.payload.web01/init.scope", "web01"},
	{"lxc, payload directory", "/lxc.payload/web01/system.slice", "web01"},
	{"lxc's monitor", "/lxc.monitor.web01", ""},
	{"docker in lxc", "/lxc/web01/docker/" H64, H64},
	{"pod without container", "/kubepods/burstable/" POD, ""},
	{"root", "/", ""},
	{"empty", "", ""},
	{"only slashes", "////", ""},
	{"trailing slash", "/docker/" H64 "/", H64},
	{"upper case is no id",
	 "/docker/0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF", ""},
	{"63 digits", "/docker/123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	 ""},
	{"65 digits", "/docker/a" H64, ""},
	{"user session", "/user.slice/user-1000.slice/session-3.scope", ""},
	{"service", "/system.slice/nginx.service", ""},
	{"just the suffix", "/.scope", ""},
	{"lxc without a name", "/lxc.payload.", ""},
	{"lxc name too long for an id", "/lxc/" H64 H64, ""},
};

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char id[CONTAINER_ID_CAP];
		size_t n = container_id_of_cgroup(span_of(rows[i].path), id);

		if (strcmp(id, rows[i].id) || n != strlen(rows[i].id)) {
			printf("%s: %s: \"%s\", expected \"%s\"\n", rows[i].cause, rows[i].path, id,
			       rows[i].id);
			failed = 1;
		}
	}
	return failed;
}
