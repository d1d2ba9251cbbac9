# A connection joined while its requests overlap: nothing is paired wrongly, and all is paired from the first idle moment on.
. tests/live/l7.inc
command -v redis-server >/dev/null || skip "needs redis-server"
free_port; serve_redis --unixsocket "$T/redis.sock"

sz='((unicode(target) - 97) * 8 + unicode(substr(target, 2)) - 97)'

# joined HOW [SOCKET]: records its client, whose answers are as long as what it asks for says
joined() {
	start python3 -B tests/live/overlap_client.py "${2:-$port}" $1
	client=$!
	worked 10 $client
	a=$T/a.obz
	obrec_start -q -p $client -e l4,l7 --debuginfo none -o "$a"
	worked 60 $client
	obrec_stop $1
	kill $client
	is "$1: losses" "$(lost "$a")" 0
	is "$1: paired wrongly" "$(q "SELECT count(*) FROM message WHERE paired AND response_bytes != 5 + $sz + length($sz)")" 0
}
unpaired() { q "SELECT count(*) FROM message WHERE NOT paired${1:+ AND $1}"; }

joined window
joined single
within "single: not paired: first and last" "$(unpaired)" 0 2
joined single "$T/redis.sock"
within "single, Unix socket: not paired: first and last" "$(unpaired)" 0 2
joined window "$T/redis.sock"
joined drain
idle="SELECT min(request_ns) FROM (SELECT request_ns, request_ns - lag(request_ns) OVER (ORDER BY request_ns) AS pause FROM message) WHERE pause > 50000000"
within "drain: not paired since it was idle: ten at the end" "$(unpaired "request_ns >= ($idle)")" 0 10
