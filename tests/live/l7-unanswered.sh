# Requests whose connection ends without an answer: closed, reset, given up, not acknowledged. A status of their own and an error at both ends,
# never "unpaired"; what is answered stays as it is.
. tests/live/l7.inc
a=$T/a.obz
ends() { q "SELECT role, m.protocol, ltrim(target, '/') AS how, count(*), sum(m.is_error), substr(status, 1, 19) AS said FROM message m JOIN connection c ON c.id = connection_id
	GROUP BY role, m.protocol, how, said ORDER BY 1, 2, 3" | tr '\n' ' '; }
expected() { # ROUNDS [MUTE]
	local role protocol
	for role in client server; do for protocol in http redis; do
		echo "$role,$protocol,answer,$1,0,$([ $protocol = http ] && echo 200 || echo OK)"
		echo "$role,$protocol,close,$1,$1,no answer: closed a"
		[ $role = server ] || [ -z "${2-}" ] || echo "$role,$protocol,mute,$1,$1,no answer: timed ou"
		echo "$role,$protocol,reset,$1,$1,no answer: $([ $role = client ] && echo "reset af" || echo "closed a")"
		echo "$role,$protocol,wait,$1,$1,no answer: closed a"
	done; done | tr '\n' ' '
}
"$OBREC" -q -e l4,l7 --debuginfo none -o "$a" -- python3 -B tests/live/unanswered_peer.py 5 0
is "ends" "$(ends)" "$(expected 5)"
is "unpaired" "$(q "SELECT sum(unpaired) FROM figure")" 0
is "clients that waited 300 ms" "$(q "SELECT count(*) FROM message m JOIN connection c ON c.id = connection_id WHERE role = 'client' AND target LIKE '%wait' AND closed_ns - request_ns >= 290000000")" 10
is "losses" "$(lost "$a")" 0
"$OBANA" report "$a" >"$T/report"
grep -q '^100.00% .* 5 .* http .* GET  */reset' "$T/report" || fail "the report does not open with it: $(sed -n 1,16p "$T/report")"
"$OBANA" messages "$a" --errors >"$T/errors"
is "messages --errors" "$(grep -c 'no answer: ' "$T/errors")" 60

# A peer that no longer acknowledges, in a network namespace of its own.
if command -v nft >/dev/null && unshare -n true 2>/dev/null; then
	unshare -n bash -c 'ip link set lo up && nft "add table ip t; add chain ip t out { type filter hook output priority 0; }" && exec "$@"' - \
		"$OBREC" -q -e l4,l7 --debuginfo none -o "$a" -- python3 -B tests/live/unanswered_peer.py 1 20000
	is "ends, not acknowledged as well" "$(ends)" "$(expected 1 mute)"
fi
