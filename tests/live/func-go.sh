# Functions of Go: a goroutine goes on in another thread and on a stack that has moved; each call is counted once, with its own duration,
# arguments and result, by either way to attach; and what would break a program is not probed.
. tests/live/lib.inc
command -v go >/dev/null || skip "needs go"
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
cat >"$T/calls.go" <<'P'
package main

import "time"

//go:noinline
func slow(n int, d time.Duration) int {
	time.Sleep(d)
	return n * 2
}

//go:noinline
func deep(n int) int {
	var a [2000]byte
	a[n%2000] = 1
	if n == 0 {
		time.Sleep(2 * time.Millisecond)
		return int(a[0])
	}
	return deep(n-1) + int(a[n%2000])
}

//go:noinline
func left() {
	defer func() { recover() }()
	panics()
}

//go:noinline
func panics() { time.Sleep(time.Millisecond); panic("over") }

func main() {
	done := make(chan int)
	for i := 0; i < 100; i++ {
		go func(i int) {
			for j := 0; j < 20; j++ {
				slow(i, time.Duration(1+i%3)*time.Millisecond)
			}
			for j := 0; j < 3; j++ {
				left()
			}
			done <- deep(40)
		}(i)
	}
	for i := 0; i < 100; i++ {
		if <-done != 41 {
			panic("wrong")
		}
	}
}
P
(cd "$T" && export GO111MODULE=off GOCACHE=${GOCACHE:-$T/gocache} && go build -o calls calls.go && go build -ldflags '-s -w' -o stripped calls.go) || fail "go build"
q() { sql "$T/a.obz" "$1"; }
counted() { "$OBANA" show $1 "$T/a.obz" --json | python3 -c 'import json, sys
for row in json.load(sys.stdin): print(*(row[k] for k in sys.argv[1:]))' "${@:2}" | LC_ALL=C sort; }
for way in multi each; do
	grep -qE "^  $way +(yes|taken)" <(awk '/^func/ {at = 1; next} /^[a-z]/ {at = 0} at' "$T/list") || { skipped "$way" "not here"; continue; }
	for program in calls stripped; do
		"$OBREC" -q -e "func:$T/$program:main.slow,arg1:long,arg2:long,ret:long,func:$T/$program:main.*" -e func:rate=0,min=0s --attach func=$way -o "$T/a.obz" -- "$T/$program"
		is "$way, $program: losses" "$(lost "$T/a.obz" "cause NOT LIKE 'mappings %'")" 0
		is "$way, $program: calls" "$(counted func calls unfinished function | grep -v func | xargs)" \
			"0 300 main.panics 1 0 main.main 2000 0 main.slow 300 0 main.left 4100 0 main.deep"
		is "$way, $program: reasons" "$(counted func-unfinished calls reason function | grep panics)" "300 frame left without a return main.panics"
		is "$way, $program: arguments, results" "$(q "SELECT count(*), sum(arg2 = 1000000 * (1 + arg1 % 3)), sum(ret = 2 * arg1), sum(duration_ns >= arg2) FROM func WHERE function = 'main.slow'")" 2000,2000,2000,2000
		# One in main.main waits for all others: none is longer.
		is "$way, $program: calls longer than the program" "$(q "SELECT count(*) FROM func WHERE duration_ns > (SELECT duration_ns FROM func WHERE function = 'main.main')")" 0
	done
done
"$OBREC" -q -e "func:$T/calls:main.slow,func:uretprobe" -o "$T/a.obz" -- "$T/calls"
is "by uretprobes" "$(q "SELECT cause, count FROM loss WHERE source = 'func'")" "function of Go: a uretprobe would break it,1"
