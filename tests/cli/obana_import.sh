# A packet capture as an archive; captures that are cut, empty, of unknown links, or none at all.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
for f in ethernet pcapng sll2; do tail -c +2 "$TOP/tests/fuzz/analyze_import/$f" >$f.pcap; done # behind the byte of the fuzz target
head -c 500 ethernet.pcap >cut.pcap
head -c 24 ethernet.pcap >nothing.pcap
{ head -c 20 ethernet.pcap; printf '\275\0\0\0'; } >usb.pcap
run() { echo "> obana $*"; "$obana" "$@" 2>&1; echo "exit $?"; }

run import ethernet.pcap
run import pcapng.pcap -o ng.obz
run import sll2.pcap -o sll2.obz --payload 3
run verify ethernet.pcap.obz
run query "SELECT transport, local_addr, local_port, remote_addr, remote_port, role, opened_ns, closed_ns, bytes_sent, bytes_received,
	sends, receives FROM connection" ethernet.pcap.obz --csv
run query "SELECT host, started_at_ns, duration_ns, stop_reason, command, comm FROM capture JOIN process" ng.obz --csv
run query "SELECT source, cause, count FROM loss" ng.obz --csv
run import cut.pcap
run query "SELECT stop_reason, bytes_received FROM capture JOIN connection" cut.pcap.obz --csv
run import nothing.pcap
run import - -o - <ethernet.pcap | grep -a -c obz.end.json
run import usb.pcap -o x.obz
run import ng.obz -o x.obz
run import missing.pcap -o x.obz
run import . -o x.obz
run import ethernet.pcap -o nodir/x.obz
run import ethernet.pcap --payload x
run import
"$obana" import ethernet.pcap -o - 2>&1 >/dev/full; echo "exit $?"
ls
