#!/bin/bash
# Thousands of binaries may name one debug member: it is unpacked again within a bound only, and those beyond have no symbols.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
command -v cc >/dev/null || { echo "no compiler"; exit 77; }

# 4 MiB of no use, which do not compress: 64 MiB and 16 times that are some 32 of them
head -c $((4 << 20)) /dev/urandom >noise
cat >prog.s <<'END'
	.globl main
main:	ret
	.section .debug_str, "", @progbits
	.incbin "noise"
END
cc -nostdlib -no-pie -Wl,-e,main,--build-id=none -o prog prog.s || exit 1
cnt=200
{
	sed -n '/^header/p' "$TOP/tests/cli/small.obt"
	echo "member .build-id/01/02.debug.zst prog"
	for ((i = 1; i <= cnt; i++)); do
		printf 'binary id=%d build_id=%08x path=/gone/prog%d\n' $i $i $i
		printf 'debuginfo binary=%d member=.build-id/01/02.debug.zst symbols=symtab\n' $i
		printf 'stack id=%d frames=%d:401000\n' $i $i
		printf 'sample kind=1 ts_ns=6000000000 thread=1 user_stack=%d count=1 value=1\n' $i
	done
	echo 'end {"complete":true,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" prog.obz || exit 1
$obana query "SELECT symbols, count(*) BETWEEN 30 AND 40 AS few, count(*) > 150 AS many FROM binary WHERE path LIKE '/gone/%' GROUP BY symbols" prog.obz --no-cache --csv
