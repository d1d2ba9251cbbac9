# One call in a hundred dropped from captures of a real server: of the pairs whose bytes are left, hardly one is missing, and next to none
# is another than in the whole capture.
. tests/live/l7.inc
for c in redis-server redis-benchmark python3; do command -v $c >/dev/null || skip "needs $c"; done
THINNED=$PWD/${B:-build}/tests/tools/thinned
[ -x "$THINNED" ] || skip "needs make units"
free_port
serve_redis
# Never idle, one to eight outstanding; an answer is a line.
cat >"$T/client.py" <<'P'
import random, socket, sys
random.seed(1)
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
commands = [b"PING\r\n", b"INCR n\r\n", b"SET k v\r\n", b"GET absent\r\n"]
left, out = int(sys.argv[2]), 0
while left or out:
    ask = min(left, random.randint(0 if out > 1 else 2, 8 - out) if out < 7 else 0)
    for _ in range(ask):
        c = random.choice(commands)
        words = c.split()
        s.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    left, out = left - ask, out + ask
    # not all of them
    got = s.recv(5 * random.randint(1, 4))
    while not got.endswith(b"\n"):
        got += s.recv(1)
    out -= got.count(b"\r\n")
P
# thinned NAME: of the capture
thinned() {
	local pairs due made wrong
	read -r pairs due made wrong < <("$THINNED" "$a" 100 0 10 | sed 's/^\([0-9]*\) pairs, \([0-9]*\) whose bytes were there: \([0-9.]*\) % made, \([0-9]*\) wrong$/\1 \2 \3 \4/')
	within "$1: pairs, ten times" "$pairs" 200000 1000000
	within "$1: whose bytes are left" "$due" $((pairs * 80 / 100)) $((pairs - 1))
	within "$1: made, %" "$made" 97 100
	within "$1: wrong, of 10,000" "$((wrong * 10000 / due))" 0 0
}
record
timeout 100 python3 "$T/client.py" $port 30000
finish "never idle" redis
thinned "never idle"
record
timeout 100 redis-benchmark -p $port -c 10 -n 40000 -P 16 -t set -q >/dev/null
finish "pipelined" redis
thinned "pipelined"
