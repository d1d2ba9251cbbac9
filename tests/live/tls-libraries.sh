# The same program over OpenSSL 1.1 and BoringSSL (Debian's packages, unpacked only), over OpenSSL within it, with and without
# symbols: clear text by count, or its lack said. Then OpenSSL 1.1's own programs, whose output is buffered by the library.
for want in "openssl11 bullseye,bullseye-security openssl libssl1.1 libssl-dev" "boringssl - android-libboringssl android-libboringssl-dev"; do
	set -- $want; name=$1; shift
	declare "$name=$(scripts/packages "$@" | tail -n 1)"
done
. tests/live/l7.inc
for c in gcc openssl curl; do command -v $c >/dev/null || skip "needs $c"; done
[ "$(uname -m)" = x86_64 ] || skip "the packages are unpacked for x86-64 only"
grep -q '^tls .*yes.*yes' "$T/list" || skip "no uprobes here"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=localhost 2>/dev/null
left_out=
lib=usr/lib/x86_64-linux-gnu
build() { # NAME GCC-ARG...
	local name=$1
	shift
	gcc -O2 -Wno-deprecated-declarations tests/live/tls_peer.c -o "$T/$name" "$@" 2>"$T/gcc" || { cat "$T/gcc"; fail "cannot build $name"; }
}
losses() { sql "$1" "SELECT coalesce(group_concat(source || ': ' || cause || ' ' || count), 'none') FROM loss WHERE source <> 'side-band'"; }
by_role() { sql "$1" "SELECT role, target LIKE '/$2/%', count(*), sum(paired), min(tls) FROM message m JOIN connection c ON c.id = connection_id GROUP BY 1, 2 ORDER BY 1" | tr '\n' ' '; }
# record NAME LIBRARIES: 3 connections of 20 requests, both ends recorded, into NAME.obz
record() {
	local name=$1 libraries=$2 server
	free_port
	LD_LIBRARY_PATH=$libraries start "$T/$name" serve $port "$T/cert.pem" "$T/key.pem"; server=$!
	await_port $port $server
	mkfifo "$T/go-$name"
	LD_LIBRARY_PATH=$libraries start bash -c "read -r <'$T/go-$name'; for i in 1 2 3; do '$T/$name' get $port 20 $name; done"; local clients=$!
	obrec_start -q -p $server,$clients -e l4,tls --debuginfo none -o "$T/$name.obz"
	echo >"$T/go-$name"
	wait $clients || fail "$name: the clients failed"
	eventually "the server has closed what its clients closed" all_served; obrec_stop "$name"
}
read_well() { # NAME LIBRARIES
	record "$1" "$2"
	is "$1: losses" "$(losses "$T/$1.obz")" none
	is "$1: by role, named so: all, paired, tls" "$(by_role "$T/$1.obz" "$1")" "client,1,60,60,1 server,1,60,60,1 "
}

if [ -d "$boringssl" ]; then
	build boringssl -I"$boringssl/usr/include/android" -L"$boringssl/$lib/android" -lssl -lcrypto
	read_well boringssl "$boringssl/$lib/android"
else left_out="$left_out; BoringSSL: $boringssl"; fi

if [ -e /$lib/libssl.a ]; then
	build static /$lib/libssl.a /$lib/libcrypto.a -ldl -pthread
	read_well static ''
	build stripped -s /$lib/libssl.a /$lib/libcrypto.a -ldl -pthread
	record stripped ''
	is "stripped: what is said" "$(losses "$T/stripped.obz")" "tls: connection: no TLS library that can be read in its program 6"
	is "stripped: messages, connections that are tls" "$(sql "$T/stripped.obz" "SELECT (SELECT count(*) FROM message), sum(tls) FROM connection")" 0,0
	"$OBANA" info "$T/stripped.obz" | grep -q 'no TLS library that can be read' || fail "info does not say that TLS was not read"
else left_out="$left_out; static OpenSSL: needs libssl-dev"; fi

if [ -d "$openssl11" ]; then
	build openssl11 -I"$openssl11/usr/include" -I"$openssl11/usr/include/x86_64-linux-gnu" -L"$openssl11/$lib" -l:libssl.so.1.1 -l:libcrypto.so.1.1
	read_well openssl11 "$openssl11/$lib"
	old() { LD_LIBRARY_PATH=$openssl11/$lib exec "$openssl11/usr/bin/openssl" "$@"; }
	free_port
	(old s_server -quiet -www -accept 127.0.0.1:$port -cert "$T/cert.pem" -key "$T/key.pem") >/dev/null 2>&1 & server=$!
	pids+=($server)
	await_port $port $server
	mkfifo "$T/go-old"
	start bash -c 'read -r <"$1"; for i in 1 2 3 4 5; do printf "GET /s_client HTTP/1.0\r\n\r\n" | LD_LIBRARY_PATH=$2 "$3" s_client -quiet -ign_eof -connect 127.0.0.1:$4; done' \
		- "$T/go-old" "$openssl11/$lib" "$openssl11/usr/bin/openssl" $port >"$T/old.out" 2>/dev/null; clients=$!
	obrec_start -q -p $server,$clients -e l4,tls --debuginfo none -o "$T/old.obz"
	echo >"$T/go-old"
	wait $clients || true # s_client's status is the connection's end
	for _ in 1 2 3 4 5; do curl -sk --http1.1 -o /dev/null "https://127.0.0.1:$port/curl"; done
	eventually "the server has closed what its clients closed" all_served; obrec_stop
	is "s_client had" "$(grep -c 'HTTP/1.0 200' "$T/old.out")" 5
	is "OpenSSL 1.1's programs: losses" "$(losses "$T/old.obz")" none
	is "OpenSSL 1.1's programs: by role, target, status" "$(sql "$T/old.obz" "SELECT role, target, m.status, count(*), sum(paired), min(tls) FROM message m JOIN connection c
		ON c.id = connection_id GROUP BY 1, 2, 3 ORDER BY 1, 2" | tr '\n' ' ')" "client,/s_client,200,5,5,1 server,/curl,200,5,5,1 server,/s_client,200,5,5,1 "
else left_out="$left_out; OpenSSL 1.1: $openssl11"; fi
[ -z "$left_out" ] || skip "all else is well; left out: ${left_out#; }"
