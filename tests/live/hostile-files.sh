# Targets that run code of files which ask for much: a few KiB on disk, whose sections lie over a hole of 500 MiB, hundreds of times.
. tests/live/hostile.inc
# made KIND [COUNT [NAME]]: one more target, of such a file
made() {
	local f=$T/$1-${2-}.$RANDOM
	"$WORKLOAD/badelf" $1 "$f" "${@:2}"
	target "$WORKLOAD/hostile" map "$f"
	targets+=${targets:+,}$target
}
one() { # SIGNAL KIND COUNT
	targets=
	made "${@:2}"
	held "$1"
	left
}
few() { # SIGNAL KIND:COUNT...: targets of each at once
	local k
	targets=
	for k in "${@:2}"; do made ${k%:*} ${k#*:}; done
	held "$1"
	left
}
# forks SIGNAL KIND:COUNT...: beside processes that come and go: none of their events is lost while the targets are read at the start
forks() {
	for _ in 1 2; do (while :; do /bin/true; done) & pids+=($!); done
	few "$@"
	is "process events lost" "$(lost "$T/a.obz" "source = 'side-band'")" 0
}
# What .gnu_debuglink and .gnu_debugaltlink lead to lies beside the file.
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
	held "$1"
	left
}
beside symtab-300 one INT symtab 300
beside symtab-2000 one TERM symtab 2000
beside dynsym-2000 one "" dynsym 2000
beside strtab one INT strtab
beside gopclntab one INT gopclntab 1
beside debug_frame one INT debug_frame 1
beside notes few INT note:1 note:300 notes:4000 notes:60000
beside frames few INT eh_frame:1 eh_frame:300 debug_frame:300 gopclntab:300
beside forks forks INT eh_frame:1 eh_frame:300 debug_frame:300 gopclntab:300
beside headers few INT phnum:4000 phnum:65534 phnum:8000000 shnum:8000000
beside deflated few INT compressed:1 zdebug:1
beside links links INT
passed
