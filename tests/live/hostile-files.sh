# Targets that run code of files which ask for much: a few KiB on disk, whose sections lie over a hole of 500 MiB, hundreds of times.
. tests/live/hostile.inc
# made KIND [COUNT [NAME]]: one more target, of such a file
made() {
	local f=$T/$1-${2-}.$RANDOM
	"$WORKLOAD/badelf" $1 "$f" "${@:2}"
	target "$WORKLOAD/hostile" map "$f"
	targets+=${targets:+,}$target
}
# made_each KIND:COUNT...
made_each() {
	local k
	for k; do made ${k%:*} ${k#*:}; done
}
# headers SIGNAL KIND:COUNT...: targets of each at once
headers() {
	targets=
	made_each "${@:2}"
	held "$1"
	left
}
# sections SIGNAL KIND:COUNT...: beside processes that come and go: none of their events is lost while the targets are read at the start
sections() {
	local forking=()
	targets=
	made_each "${@:2}"
	honest
	for _ in 1 2; do (while :; do /bin/true; done) & forking+=($!); done
	pids+=(${forking[@]})
	ready -p "$honest,$targets"
	kill ${forking[@]}
	recorded "$1"
	is "process events lost" "$(lost "$T/a.obz" "source = 'side-band'")" 0
	left
}
# links SIGNAL KIND:COUNT...: what .gnu_debuglink and .gnu_debugaltlink lead to lies beside the file
links() {
	local kind name
	targets=
	mkfifo "$T/fifo"
	ln -s /dev/zero "$T/zero"
	ln -s loop "$T/loop"
	truncate -s 500G "$T/huge"
	"$WORKLOAD/badelf" symtab "$T/symtab" 2000
	for kind in debuglink altlink; do
		for name in fifo zero loop huge symtab /dev/tty /dev/zero "$T/fifo" ../../../../../../../../dev/urandom; do made $kind 1 "$name"; done
		"$WORKLOAD/badelf" $kind "$T/self-$kind" 1 "self-$kind"
		target "$WORKLOAD/hostile" map "$T/self-$kind"
		targets+=,$target
	done
	made_each "${@:2}"
	held "$1"
	left
}
beside sections sections INT symtab:300 symtab:2000 dynsym:2000 strtab:1 gopclntab:1 gopclntab:300 eh_frame:1 eh_frame:300 debug_frame:1 debug_frame:300 note:1 note:300
beside headers headers TERM notes:4000 notes:60000 phnum:4000 phnum:65534 phnum:8000000 shnum:8000000
beside links links "" compressed:1 zdebug:1
passed
