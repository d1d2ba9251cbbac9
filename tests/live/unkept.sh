# What is missed because payload was not kept is said, with what would keep it; nothing is said where nothing is missed.
. tests/live/l7.inc
for c in redis-server redis-benchmark redis-cli; do command -v $c >/dev/null || skip "needs $c"; done
free_port
serve_redis

recorded() { # name payload command...
	local name=$1 payload=$2
	shift 2
	record --payload $payload
	"$@" >/dev/null || fail "$*"
	finish $name
	mv "$a" "$T/$name.obz"
}

# 64 in a pipeline, of which 512 bytes hold some 16: the others' answers stay alone, and each is counted.
recorded pipe 512 redis-benchmark -p $port -c 2 -n 6400 -P 64 -t set -q
a=$T/pipe.obz
known=$(sql "$a" "SELECT count(*) FROM message WHERE method = 'SET' AND paired")
alone=$(sql "$a" "SELECT count(*) FROM message WHERE method IS NULL AND NOT paired")
within "requests in view" "$known" 100 6399
is "answers of the others" $((known + alone)) 6400
is "missing" "$(sql "$a" "SELECT missing FROM unkept WHERE protocol = 'redis'")" "$alone"
is "unpaired for it" "$(sql "$a" "SELECT unpaired FROM unkept WHERE protocol = 'redis'")" "$alone"
bytes=$(sql "$a" "SELECT longest FROM unkept")
said=$("$OBANA" traffic "$a" | grep '^Payload')
echo "$said"
[[ $said == *"not captured (--payload 512): at least"*"missing"*"unpaired"*"; capture them with --payload "* ]] || fail "traffic says: $said"
"$OBANA" report "$a" | grep -q 'Payload.*not captured (--payload 512)' || fail "report does not say it"
"$OBANA" messages "$a" 2>&1 >/dev/null | grep -q 'not captured (--payload 512)' || fail "messages does not say it"

# With what it says, all are seen.
enough=$(sed 's/.*capture them with --payload \([0-9]*\).*/\1/' <<<"$said")
within "advised for a call of $bytes" "$enough" "$bytes" $((bytes + 1023))
recorded again "$enough" redis-benchmark -p $port -c 2 -n 6400 -P 64 -t set -q
is "all seen" "$(sql "$T/again.obz" "SELECT count(*) FROM message WHERE method = 'SET' AND paired")" 6400

# Values of 1 MB: their bytes are passed over, no message is missed.
recorded bulk 512 redis-benchmark -p $port -c 2 -n 60 -d 1000000 -t set,get -q
is "bulk: paired" "$(sql "$T/bulk.obz" "SELECT count(*) FROM message WHERE method IN ('SET','GET') AND paired")" 120
for name in again bulk; do
	is "$name: nothing to say" "$({ "$OBANA" traffic "$T/$name.obz"; "$OBANA" report "$T/$name.obz"; "$OBANA" messages "$T/$name.obz"; } 2>&1 | grep -c 'not captured')" 0
done
