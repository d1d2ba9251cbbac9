/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linked into the static obana in place of what its libraries name and it never calls; all of it
 * fails. libpcap reads files here: capturing needs D-Bus, which has no complete static library in
 * Debian, and compiling a filter needs name services, which glibc loads at run time. SQLite could
 * load extensions, which is off unless a connection turns it on, and none does.
 */
#include <pcap/pcap.h>

/* What capturing starts from. The members of libpcap.a that define these then stay out. */
/* clang-format off */
#define CREATE(name) pcap_t *name(void); pcap_t *name(void) { return NULL; }
#define FINDALLDEVS(name) int name(void); int name(void) { return PCAP_ERROR; }
/* clang-format on */
CREATE(pcap_create_interface)
CREATE(bt_create)
CREATE(bt_monitor_create)
CREATE(dbus_create)
CREATE(netfilter_create)
CREATE(usb_create)
FINDALLDEVS(pcap_platform_finddevs)
FINDALLDEVS(bt_findalldevs)
FINDALLDEVS(bt_monitor_findalldevs)
FINDALLDEVS(dbus_findalldevs)
FINDALLDEVS(netfilter_findalldevs)
FINDALLDEVS(usb_findalldevs)

/* What reading files needs of the filter compiler: there is never a filter, so there is nothing to
 * free. */
int install_bpf_program(pcap_t *p, struct bpf_program *program);
int install_bpf_program(pcap_t *p, struct bpf_program *program)
{
	return PCAP_ERROR;
}

void pcap_freecode(struct bpf_program *program)
{
}

/* SQLite's dlopen, by the linker's --wrap */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}
