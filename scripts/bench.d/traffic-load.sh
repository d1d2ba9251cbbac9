# obana: messages per second and core for archives of one and of ten million messages, and memory
. scripts/bench.d/lib.inc
make -s build/tests/bench/traffic
head_row
for kind in redis http; do
	for n in 1000000 10000000; do
		build/tests/bench/traffic "$T/t.obz" $kind $n 64 1
		for what in traffic "query SELECT|count(*)|FROM|message"; do
			set -- $what
			measured "$OBANA" "$1" "$T/t.obz" ${2:+"${2//|/ }"}
			row "$kind, $n messages, $1: messages per CPU second" "$(calc "$n/$cpu" 0)" - - "$([ "$1" = traffic ] && echo '>= 500000')"
			row "its memory, MiB" "$((rss >> 10))" - - "< 512"
		done
	done
done
build/tests/bench/traffic "$T/t.obz" http 1000000 100000 1 3
for what in "traffic --rare" report topology "export prometheus -o -"; do
	measured "$OBANA" $what "$T/t.obz"
	row "100,000 connections, 1 M messages: $what, CPU s" "$cpu" - - "$((rss >> 10)) MiB"
done
