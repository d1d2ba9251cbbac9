# Dubbo 2 with a peer that speaks it as Dubbo does (it is not in Debian): calls, exceptions, one-way calls, heartbeats and calls back, one
# at a time, and 16 at a time, answered out of order; as many of each as the client counted.
. tests/live/l7.inc
n=1000
for way in 1 16; do
	record_peer dubbo $n $way
	is "$way at a time: calls" "$(q "SELECT method, ifnull(nullif(target, ''), '-'), ifnull(nullif(status, ''), '-'), count(*) FROM message GROUP BY 1,2,3 ORDER BY 1,2,3" | tr ',' ' ')" "$(LC_ALL=C sort "$T/client")"
	is "$way at a time: unpaired" "$(q "SELECT count(*) FROM message WHERE NOT paired")" $((n / 20 + 1))
	is "$way at a time: errors" "$(q "SELECT sum(is_error) FROM message")" $((n / 5))
	is "$way at a time: thrown" "$(q "SELECT json_extract(detail, '$.exception'), count(*) FROM message WHERE detail LIKE '%no luck%' GROUP BY 1")" "org.example.NoLuckException,$((n / 10))"
	kill $server
done
