# splice() out of TCP connections: watched once a target looks as if it used it, or is found to do so; what went before is counted as lost.
. tests/live/lib.inc
for c in haproxy curl perl python3; do command -v $c >/dev/null || skip "needs $c"; done
port=$((21000 + RANDOM % 5000))

of() { sql "$1" "SELECT count(*), $2 FROM connection WHERE ${3-role = 'server'}"; }

# A proxy that takes it from libc: nothing is lost, the bytes are the client's.
mkdir "$T/www"; head -c 3000000 /dev/urandom >"$T/www/large"
start python3 -m http.server -b 127.0.0.1 -d "$T/www" $port >/dev/null 2>&1
cat >"$T/proxy.cfg" <<C
defaults
	mode tcp
	timeout connect 20s
	timeout client 20s
	timeout server 20s
	option splice-request
	option splice-response
listen proxy
	bind 127.0.0.1:$((port + 1))
	server one 127.0.0.1:$port
C
start haproxy -f "$T/proxy.cfg" -db 2>"$T/proxy.err"; proxy=$!
get() { curl -sS -o /dev/null -w '%{size_download} %{size_header}\n' "http://127.0.0.1:$((port + 1))/large"; }
eventually "the proxy serves" get
obrec_start -q -p $proxy -e l4,l7 --debuginfo none -o "$T/proxy.obz"
for _ in 1 2 3; do get; done >"$T/truth"
is "the client's bytes" "$(sort -u "$T/truth" | cut -d' ' -f 1)" 3000000
obrec_stop
want=$(awk '{n += $1 + $2} END {print NR "," n}' "$T/truth")
is "to the client" "$(of "$T/proxy.obz" "sum(bytes_sent)")" "$want"
is "from the server" "$(of "$T/proxy.obz" "sum(bytes_received)" "role = 'client'")" "$want"
is "lost" "$(lost "$T/proxy.obz")" 0

# A program that makes the system call by itself.
cat >"$T/own.pl" <<'P'
use Socket;
my ($port, $nr, $sends) = @ARGV;
socket(my $l, PF_INET, SOCK_STREAM, 0);
bind($l, sockaddr_in($port, INADDR_LOOPBACK)) && listen($l, 5) or die "listen: $!";
pipe(my $out, my $in);
sub spliced { syscall(0 + $nr, fileno($c), 0, fileno($in), 0, 0 + $_[0], 0) == $_[0] && sysread($out, my $b, $_[0]) == $_[0] or die "splice: $!" }
sub received { recv($c, my $b, $_[0], MSG_WAITALL); length $b == $_[0] or die "received " . length $b }
print STDERR "ready\n";
while (<STDIN>) { # one connection each
	unless (fork) { socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect: $!"; syswrite($s, "x" x $sends); sysread($s, my $b, 1); exit 0 }
	accept($c, $l);
	for my $do (split) { $do =~ s/^s// ? spliced($do) : received($do) }
	close $c;
	wait;
	print STDERR "done\n";
}
P
case $(uname -m) in x86_64) nr=275 ;; aarch64) nr=76 ;; *) skip "needs the number of splice()" ;; esac
each() { sql "$1" "SELECT receives, bytes_received FROM connection WHERE local_port = $port ORDER BY opened_ns" | sed 's/^,/0,/' | tr '\n' ' '; }
own() { # NAME LOST COUNTS BYTES CALLS...: of one connection each, that many are sent; numbers received, sNUMBER spliced
	local name=$1 lost=$2 counts=$3 sends=$4 calls n=0
	shift 4
	port=$((port + 2))
	mkfifo "$T/go.$name"
	perl "$T/own.pl" $port $nr $sends <"$T/go.$name" 2>"$T/$name.err" & pids+=($!)
	local pid=$!
	exec 7>"$T/go.$name"
	eventually "$name listens" written "$T/$name.err" ready
	obrec_start -q -p $pid -e l4,l7 --debuginfo none -o "$T/$name.obz"
	for calls; do
		echo "$calls" >&7
		n=$((n + 1))
		eventually "$name is through" eval "[ \$(grep -c done '$T/$name.err') = $n ]"
		sleep 1 # obrec hears of it
	done
	obrec_stop
	exec 7>&-
	is "$name: lost" "$(lost "$T/$name.obz" "cause NOT LIKE '%splice%'"),$(lost "$T/$name.obz" "cause LIKE '%splice%'")" 0,$lost
	is "$name: each connection" "$(each "$T/$name.obz")" "$counts "
}
own "seen-by-the-next-call" 1 "2,2000 3,3000" 3000 "1000 s1000 1000" "1000 s1000 1000"
own "seen-at-the-end" 1 "1,1000 2,2000" 2000 "1000 s1000" "1000 s1000"
own "nothing-else-received" 1 "0,0 1,2000" 2000 s2000 s2000
own "closed-with-a-reset" 1 "1,1000 1,500" 2000 "1000 s500" s500
own "no-splice" 0 "2,2000 2,2000" 2000 "1000 1000" "500 1500"
