# nginx under wrk, one request at a time and 16 in a pipeline, with several methods and statuses: as many of each as nginx itself logs.
. tests/live/l7.inc
for c in nginx wrk; do command -v $c >/dev/null || skip "needs $c"; done
free_port
serve_nginx "log_format few '\$request_method,\$uri,\$status'; access_log $T/access.log few;
server { listen 127.0.0.1:$port;
	location /get { return 200 'hello'; } location /empty { return 204; } location /bad { return 503 'no'; } location /moved { return 301 /get; } }"
cat >"$T/one.lua" <<'L'
local wants = {{"GET", "/get"}, {"GET", "/empty"}, {"DELETE", "/bad"}, {"GET", "/moved"}, {"GET", "/missing"}}
local at = 0
request = function() at = at % #wants + 1; return wrk.format(wants[at][1], wants[at][2]) end
L
# 16 in one write; wrk counts each answer. No HEAD: wrk's parser would wait for its body; some are sent by hand.
cat >"$T/pipe.lua" <<'L'
init = function()
	local wants, r = {{"GET", "/get"}, {"GET", "/empty"}, {"DELETE", "/bad"}, {"GET", "/moved"}}, {}
	for i = 1, 16 do r[i] = wrk.format(wants[i % 4 + 1][1], wants[i % 4 + 1][2]) end
	all = table.concat(r)
end
request = function() return all end
L
for way in one:head pipe:head pipe:16384; do
	payload=${way#*:}
	: >"$T/access.log"
	record --payload $payload --ring-size 64M # holds what wrk gets through while obrec has no CPU
	said=$(timeout 60 wrk -t1 -c8 -d1s -s "$T/${way%:*}.lua" "http://127.0.0.1:$port/" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p')
	for _ in 1 2 3; do printf 'HEAD /get HTTP/1.0\r\nX-Forwarded-For: 203.0.113.9, 10.0.0.1\r\n\r\n' | timeout 5 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3 >/dev/null" || true; done
	finish $way
	logged=$(wc -l <"$T/access.log")
	within "$way: wrk said $said, nginx logged" "$logged" "$said" $((said + 8 * 16 + 3))
	[ "$way" = pipe:head ] && continue # heads of 512 bytes do not hold 16 requests: what is known is in the next round
	# nginx logs what it answered; what it could no longer send when wrk ended has no status here, what it did not come to is not logged.
	q "SELECT method, target, status, count(*) FROM message WHERE paired GROUP BY 1, 2, 3" >"$T/paired"
	q "SELECT method, target, count(*) FROM message GROUP BY 1, 2" >"$T/asked"
	awk -F, 'FILENAME ~ /paired$/ {paired[$1","$2","$3] = $4; next} FILENAME ~ /asked$/ {asked[$1","$2] = $3; next}
		{logged[$0]++; of[$1","$2] = $0}
		END {
			for (k in logged) if (paired[k] > logged[k]) {print k ": paired " paired[k] ", logged " logged[k]; bad = 1}
			for (k in paired) if (!(k in logged)) {print k ": not logged"; bad = 1}
			for (k in of) if (logged[of[k]] > asked[k]) {print k ": asked " asked[k] ", logged " logged[of[k]]; bad = 1}
			exit bad
		}' "$T/paired" "$T/asked" "$T/access.log" || fail "$way: by method, target and status"
	echo "ok: $way: by method, target and status, paired <= nginx's <= asked: $(sort "$T/access.log" | uniq -c | awk '{printf "%s %s; ", $1, $2}')"
	is "$way: errors that nginx answered" "$(q "SELECT sum(is_error) FROM message WHERE status NOT LIKE 'no answer: %'")" "$(awk -F, '$3 >= 400 {n += $4} END {print n}' "$T/paired")"
	is "$way: who really asked" "$(q "SELECT client, method, count(*) FROM exchange WHERE client IS NOT NULL GROUP BY 1, 2")" 203.0.113.9,HEAD,3
	within "$way: not paired (under way when wrk ended)" "$(sql "$a" "SELECT count(*) FROM message WHERE NOT paired")" 0 $((8 * 16))
done
