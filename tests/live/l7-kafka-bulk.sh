# Answers of 50 MB to Kafka's Fetch, amid small calls, one and eight at a time: all calls are seen and paired, and bytes are the client's.
. tests/live/l7.inc
for depth in 1 8; do
	record_peer kafka 24 $depth
	q "SELECT method, target, count(*), sum(paired), sum(response_bytes) FROM message GROUP BY 1, 2 ORDER BY 1, 2" | LC_ALL=C sort >"$T/got"
	LC_ALL=C sort "$T/client" | diff - "$T/got" || fail "$depth at a time: calls, < as the client counted, > as recorded"
	is "$depth at a time: errors" "$(q "SELECT sum(is_error) FROM message")" 0
	kill $server
done
