-- SPDX-License-Identifier: BSD-2-Clause
-- Contents of the archives given to obana. Tables are filled from records; views define what reports show.
--
-- Times are integer nanoseconds of CLOCK_REALTIME; durations also end in _ns. Ids are assigned by obana, since the
-- tables hold several captures. Kernel addresses are negative (64 bits, signed): print them by printf('%x', address).
--
-- `obana schema` prints the descriptions in this file: the comment after the name of a table or view, and one line
-- per column, `name TYPE, -- description`. Columns of a view have no such line; they use `-- name: description`.
-- Tables of events (and the view event) are made from the schema of each archive: load_event.c.

CREATE TABLE capture( -- one row for each archive
	id INTEGER PRIMARY KEY, -- 1, 2, ... in the order given
	uuid TEXT, -- of the archive
	host TEXT, -- host name
	kernel TEXT, -- kernel release
	arch TEXT, -- machine, as in uname -m
	started_at_ns INTEGER, -- start of the capture
	duration_ns INTEGER, -- its length
	complete INTEGER, -- 1: the recorder ended it itself
	stop_reason TEXT, -- why it ended
	command TEXT, -- the recorder's command line
	path TEXT, -- of the archive, as given
	version TEXT, -- of obrec
	probes TEXT, -- comma list
	cpus INTEGER, -- CPUs online; NULL: not known
	freq INTEGER, -- samples per second and CPU; NULL: not known
	damage TEXT -- what is missing or broken in the archive; NULL: nothing
);

CREATE TABLE process( -- one program image of one process; exec starts a new one
	id INTEGER PRIMARY KEY, -- process
	capture_id INTEGER, -- capture.id
	pid INTEGER, -- in the host's pid namespace
	ppid INTEGER, -- parent's pid
	comm TEXT, -- name
	exe TEXT, -- path of the program, as the process sees it
	cmdline TEXT, -- arguments joined by spaces
	cgroup TEXT, -- path below the cgroup root
	container_id TEXT, -- from the cgroup path
	started_ns INTEGER, -- start of the image
	exited_ns INTEGER, -- its end; NULL: not during the capture
	ns_pid INTEGER, -- in its own pid namespace
	netns INTEGER -- inode of its network namespace
);
CREATE INDEX process_pid ON process(pid, capture_id, started_ns);
CREATE TABLE thread( -- one thread of a process
	id INTEGER PRIMARY KEY, -- thread
	process_id INTEGER, -- process.id
	tid INTEGER, -- in the host's pid namespace
	comm TEXT -- name
);
CREATE TABLE label( -- labels of processes and captures
	capture_id INTEGER, -- capture.id
	process_id INTEGER, -- process.id; NULL: of the capture
	key TEXT, -- name of the label
	value TEXT -- its value
);
CREATE UNIQUE INDEX label_key ON label(capture_id, ifnull(process_id, 0), key);

CREATE TABLE binary( -- ELF files, the kernel, JIT code of one process
	id INTEGER PRIMARY KEY, -- binary
	build_id TEXT, -- hex of the GNU build-id, or sha1:HEX of the content
	path TEXT, -- as the process sees it
	symbols TEXT, -- dwarf | symtab | dynsym | none; NULL for what has its symbols from the host (kernel, JIT)
	why TEXT, -- the reason when it is less than dwarf
	name TEXT -- last part of the path
);
CREATE TABLE function( -- functions that were on a stack
	id INTEGER PRIMARY KEY, -- function
	name TEXT, -- demangled
	file TEXT, -- source file; NULL: not known
	line INTEGER, -- where it is declared; NULL: not known
	binary_id INTEGER, -- binary.id
	linkage_name TEXT -- mangled; NULL: name is not
);
CREATE TABLE frame( -- places in the code that were on a stack, one row for each inlined call
	id INTEGER PRIMARY KEY, -- frame
	kind TEXT, -- user | kernel | jit
	binary_id INTEGER, -- binary.id
	address INTEGER, -- ELF virtual address
	function_id INTEGER, -- function.id
	file TEXT, -- source file; NULL: not known
	line INTEGER, -- executing, or of the call; NULL: not known
	inlined INTEGER -- 1: inlined into the next frame
);
CREATE TABLE stack( -- distinct stacks
	id INTEGER PRIMARY KEY, -- stack
	truncated INTEGER, -- 1: it does not reach the thread's start
	error TEXT -- why not; NULL: complete
);
CREATE TABLE stack_frame( -- the frames of stacks
	stack_id INTEGER, -- stack.id
	depth INTEGER, -- 0 is the leaf
	frame_id INTEGER, -- frame.id
	PRIMARY KEY(stack_id, depth)) WITHOUT ROWID;
CREATE TABLE sample_kind( -- what samples are of
	name TEXT PRIMARY KEY, -- sample.kind
	title TEXT, -- of reports and graphs
	unit TEXT, -- of sample.value: ns, bytes, ...; empty: none
	count_name TEXT -- what sample.count counts: samples, waits, ...
);
CREATE TABLE sample( -- stacks with weights
	capture_id INTEGER, -- capture.id
	kind TEXT, -- sample_kind.name: cpu, offcpu, ...
	ts_ns INTEGER, -- of the first sample added up in the row
	thread_id INTEGER, -- thread.id
	stack_id INTEGER, -- stack.id
	count INTEGER, -- samples that the row stands for
	value INTEGER, -- sum of their weights, in sample_kind.unit
	message_id INTEGER -- message.id; NULL: not attributed
);

CREATE TABLE connection( -- sockets
	id INTEGER PRIMARY KEY, -- connection
	capture_id INTEGER, -- capture.id
	process_id INTEGER, -- process.id
	transport TEXT, -- tcp | udp | unix | unix-dgram
	local_addr TEXT, -- address, or path of a Unix socket
	local_port INTEGER, -- port
	remote_addr TEXT, -- address, or path of a Unix socket
	remote_port INTEGER, -- port
	role TEXT, -- client | server; NULL: not known
	protocol TEXT, -- of its messages; NULL: not known
	tls INTEGER, -- 1: messages are the plaintext of its TLS library
	opened_ns INTEGER, -- NULL: before the capture
	closed_ns INTEGER, -- NULL: not during the capture
	bytes_sent INTEGER, -- payload bytes
	bytes_received INTEGER, -- payload bytes
	sends INTEGER, -- system calls that sent
	receives INTEGER, -- system calls that received
	retransmits INTEGER, -- TCP segments sent again
	srtt_us INTEGER, -- smoothed round-trip time; 0: not known
	peer_pid INTEGER, -- Unix sockets: pid of the other end
	netns INTEGER, -- inode of its network namespace
	sampled INTEGER, -- 1: its payload was captured
	service TEXT, -- name of this end
	peer TEXT, -- name of the other end
	other_id INTEGER, -- the connection that is its other end, if recorded
	counted INTEGER, -- 1: of the two ends, the one that counts
	sent_seq INTEGER, -- TCP sequence number of position 0
	received_seq INTEGER, -- TCP sequence number of position 0
	shares_id INTEGER -- the connection whose socket this process uses as well; the messages of both are that one's
);
CREATE TABLE connection_stat( -- traffic since the row before of the same connection
	connection_id INTEGER, -- connection.id
	ts_ns INTEGER, -- end of the interval
	bytes_sent INTEGER, -- payload bytes
	bytes_received INTEGER, -- payload bytes
	sends INTEGER, -- system calls that sent
	receives INTEGER, -- system calls that received
	retransmits INTEGER, -- TCP segments sent again
	srtt_us INTEGER -- smoothed round-trip time
);
CREATE TABLE message( -- requests with their responses
	id INTEGER PRIMARY KEY, -- message
	connection_id INTEGER, -- connection.id
	protocol TEXT, -- http1, redis, mysql, ...
	method TEXT, -- GET, SELECT, ...
	target TEXT, -- path, table, topic, ...
	status TEXT, -- of the response; "no answer: ..." if the connection ended first
	is_error INTEGER, -- 1: the response says so, or there is none because the connection ended
	request_ns INTEGER, -- last byte of the request
	response_ns INTEGER, -- last byte of the response
	latency_ns INTEGER, -- response_ns - request_ns
	first_byte_ns INTEGER, -- request_ns to the first byte of the response
	request_bytes INTEGER, -- size
	response_bytes INTEGER, -- size
	paired INTEGER, -- 1: both were seen
	oneway INTEGER, -- 1: it has no response
	detail TEXT, -- JSON; "end":"not seen", "response_bytes":"at least", "request_bytes":"at least": it is more than is shown
	peer TEXT, -- datagrams of a socket with many peers: name; NULL: as its connection's
	peer_addr TEXT, -- the same as ADDRESS:PORT
	is_call INTEGER -- calls are sum(is_call); 0: a response alone of one of the requests alone before it, which one is not known
);
CREATE TABLE clock_offset( -- differences between the clocks of captures, from calls sent in one and received in the other
	capture_id INTEGER, -- capture.id
	other_id INTEGER, -- capture.id
	offset_ns INTEGER, -- other_id's clock minus capture_id's
	delay_ns INTEGER, -- of the fastest call
	pairs INTEGER -- calls compared
);
CREATE TABLE unkept( -- calls of which payload was not captured that held more messages
	capture_id INTEGER, -- capture.id
	protocol TEXT, -- of the connection
	places INTEGER, -- how many
	bytes INTEGER, -- not captured
	longest INTEGER, -- bytes of a call
	missing INTEGER, -- messages known to be missing for it
	unpaired INTEGER, -- messages without their other half for it
	no_ends INTEGER, -- responses that ended later than seen
	partials INTEGER -- messages of more bytes than seen
);
CREATE TABLE late( -- connections open before the capture whose requests outstanding then leave the order unknown
	capture_id INTEGER, -- capture.id
	protocol TEXT, -- of the connections
	connections INTEGER, -- how many
	calls INTEGER, -- seen on them
	unpaired INTEGER, -- of them without latency for it
	UNIQUE(capture_id, protocol)
);
CREATE TABLE twice( -- connections that another archive of the same host saw more of: they count there while both recorded
	capture_id INTEGER, -- capture.id
	connections INTEGER -- how many
);
CREATE TABLE scaling( -- captures with payload of a share of the connections, by --sample or --cpu-budget
	capture_id INTEGER, -- capture.id
	least REAL, -- the least share
	steps INTEGER, -- how often --cpu-budget changed it
	connections INTEGER, -- with messages in the aggregates
	seen INTEGER, -- messages seen
	calls INTEGER, -- what they were scaled to
	calls_error INTEGER -- twice the standard error of calls
);
CREATE TABLE figure( -- aggregates of messages, sampling scaled back; what a level does not distinguish is NULL
	level TEXT, -- protocol | peer | endpoint | method | call
	start_ns INTEGER, -- of the interval
	role TEXT, -- client | server
	service TEXT, -- name of this end
	peer TEXT, -- name of the other end
	protocol TEXT, -- http1, redis, ...
	method TEXT, -- GET, SELECT, ...
	target TEXT, -- path, table, ...
	calls INTEGER, -- requests
	errors INTEGER, -- of them failed
	unpaired INTEGER, -- calls of which one half was seen, or both and not that they belong together: they have no latency
	request_bytes INTEGER, -- sum
	response_bytes INTEGER, -- sum
	min_ns INTEGER, -- latency
	mean_ns INTEGER, -- latency
	p50_ns INTEGER, -- latency
	p95_ns INTEGER, -- latency
	p99_ns INTEGER, -- latency
	max_ns INTEGER, -- latency
	first_ns INTEGER, -- time of the first
	last_ns INTEGER, -- time of the last
	connection_id INTEGER, -- where it was seen first
	timed INTEGER, -- how many have a latency
	sum_ns INTEGER, -- sum of latencies
	repeated INTEGER -- 1: all its calls are in rows of the other end of their connections, too
);
CREATE TABLE figure_bucket( -- latencies of figures of level method
	figure_id INTEGER, -- figure.rowid
	high_ns INTEGER, -- upper bound
	count INTEGER, -- calls of at most high_ns, cumulative
	PRIMARY KEY(figure_id, high_ns)) WITHOUT ROWID;
CREATE VIEW latency_histogram AS -- latencies of requests by range
	-- role: client | server
	-- service: name of this end
	-- peer: name of the other end
	-- protocol: http1, redis, ...
	-- method: GET, SELECT, ...
	-- low: low < latency, in ns
	-- high: latency <= high
	-- count: calls in the range
SELECT role, service, peer, protocol, method, low, high, count
FROM (SELECT f.*, ifnull(lag(b.high_ns) OVER w, 0) AS low, b.high_ns AS high,
	b.count - ifnull(lag(b.count) OVER w, 0) AS count
	FROM figure_bucket b JOIN figure f ON f.rowid = b.figure_id
	WINDOW w AS (PARTITION BY b.figure_id ORDER BY b.high_ns)) WHERE count > 0;
CREATE TABLE flow( -- edges; what both ends of a connection recorded counts once
	client TEXT, -- name of the client
	server TEXT, -- name of the server
	protocol TEXT, -- http1, redis, ...
	calls INTEGER, -- requests; 0: connections without messages known
	errors INTEGER, -- of them failed
	request_bytes INTEGER, -- sum
	response_bytes INTEGER, -- sum
	p50_ns INTEGER, -- latency
	p95_ns INTEGER, -- latency
	p99_ns INTEGER, -- latency
	mean_ns INTEGER, -- latency
	client_ns INTEGER, -- mean of the calls both ends saw, at the client
	server_ns INTEGER, -- the same at the server: the difference is the network's
	unpaired INTEGER, -- as in figure, of the side that the latency is of
	side TEXT -- client | server: where the latency was measured; both: of some calls here, of others there
);
CREATE TABLE rate( -- calls over time; what both ends of a connection recorded counts once
	client TEXT, -- name of the client; NULL: there are too many to distinguish them
	server TEXT, -- name of the server; NULL: as client
	protocol TEXT, -- http1, redis, ...
	start_ns INTEGER, -- of the interval
	interval_ns INTEGER, -- its length: 1 s, more in captures of more than 2 minutes
	calls INTEGER, -- requests
	errors INTEGER -- of them failed
);
CREATE TABLE surge( -- clients that suddenly made many more calls
	client TEXT, -- name of the client; NULL: there are too many to distinguish them
	server TEXT, -- name of the server; NULL: as client
	protocol TEXT, -- http1, redis, ...
	start_ns INTEGER, -- from when on
	end_ns INTEGER, -- until when; or the end of the capture
	qps_before REAL, -- calls a second until then
	qps_after REAL, -- calls a second from then on
	calls INTEGER -- more than there would have been
);
CREATE TABLE series( -- what probes count, by key
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	kind TEXT, -- counter | histogram | gauge: in counter, count: readings, sum: of their values
	unit TEXT, -- of low, high and sum: ns, bytes, ...; empty: plain counts
	keys TEXT -- what the parts of a key are, joined by tabs
);
CREATE TABLE histogram( -- counts by range of values; rows of the same series, key and range add up
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	start_ns INTEGER, -- of the interval
	low INTEGER, -- low <= value
	high INTEGER, -- value < high
	count INTEGER, -- values in the range
	sum INTEGER -- of the values, where it is counted
);
CREATE TABLE counter( -- counts by key; rows of the same series and key add up
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	start_ns INTEGER, -- of the interval
	count INTEGER, -- events
	sum INTEGER -- of their values, where it is counted
);
CREATE TABLE histogram_total( -- rows of histogram, added up over the capture: a hundredth of them
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	low INTEGER, -- low <= value
	high INTEGER, -- value < high
	count INTEGER, -- values in the range
	sum INTEGER -- of the values, where it is counted
);
CREATE TABLE histogram_minute( -- rows of histogram, added up over each minute
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	start_ns INTEGER, -- of the minute
	low INTEGER, -- low <= value
	high INTEGER, -- value < high
	count INTEGER, -- values in the range
	sum INTEGER -- of the values, where it is counted
);
CREATE TABLE histogram_count( -- rows of histogram, added up over the ranges
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	start_ns INTEGER, -- of the interval
	count INTEGER, -- values
	sum INTEGER -- of the values, where it is counted
);
CREATE TABLE histogram_time( -- rows of histogram, added up over the keys
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	start_ns INTEGER, -- of the interval
	low INTEGER, -- low <= value
	high INTEGER, -- value < high
	count INTEGER, -- values in the range
	sum INTEGER -- of the values, where it is counted
);
CREATE TABLE counter_total( -- rows of counter, added up over the capture
	capture_id INTEGER, -- capture.id
	probe TEXT, -- name of the probe
	series TEXT, -- name of the series
	key TEXT, -- its parts joined by tabs; (other): keys beyond the bound
	count INTEGER, -- events
	sum INTEGER -- of their values, where it is counted
);
CREATE TABLE loss( -- what was not recorded, by cause
	capture_id INTEGER, -- capture.id
	source TEXT, -- probe or part of obrec
	cause TEXT, -- why
	count INTEGER, -- events
	affects TEXT -- traffic | plaintext | peers | doubled | samples | symbols | events | memory | readings | counts | all: what it makes wrong or incomplete
);
CREATE TABLE program( -- cost of BPF programs
	capture_id INTEGER, -- capture.id
	name TEXT, -- of the program
	runs INTEGER, -- how often it ran
	run_ns INTEGER -- CPU time of all runs
);
CREATE TABLE thinning( -- steps of --cpu-budget
	capture_id INTEGER, -- capture.id
	ts_ns INTEGER, -- from when on
	what TEXT, -- cpu, offcpu: samples; payload: connections; processes: process events
	cause TEXT, -- the bound that was reached
	was REAL, -- share recorded before
	kept REAL -- share recorded from ts_ns on
);

-- ---- weights: totals of samples. These four views define the content; obana can also compute it while loading,
-- without the rows of sample and stack_frame.

CREATE VIEW function_weight(kind, function_id, self_count, self_value, total_count, total_value) AS -- samples by function; a function counts once in a stack, however often it is there
	-- kind: sample_kind.name
	-- function_id: function.id
	-- self_count: samples with it as the leaf
	-- self_value: their weight
	-- total_count: samples with it anywhere in the stack
	-- total_value: their weight
WITH weight AS (
	SELECT kind, stack_id, sum(count) AS count, sum(value) AS value FROM sample GROUP BY kind, stack_id),
member AS (
	SELECT stack_id, function_id, min(depth) = 0 AS leaf
	FROM stack_frame JOIN frame ON frame.id = frame_id GROUP BY stack_id, function_id)
SELECT kind, function_id, sum(count * leaf), sum(value * leaf), sum(count), sum(value)
FROM weight JOIN member USING (stack_id) GROUP BY kind, function_id;

CREATE VIEW binary_weight(kind, binary_id, self_count, self_value) AS -- samples by binary of the leaf
	-- kind: sample_kind.name
	-- binary_id: binary.id
	-- self_count: samples
	-- self_value: their weight
SELECT sample.kind, binary_id, sum(count), sum(value)
FROM sample JOIN stack_frame ON stack_frame.stack_id = sample.stack_id AND depth = 0 JOIN frame ON frame.id = frame_id
GROUP BY sample.kind, binary_id;

CREATE VIEW thread_weight(kind, thread_id, count, value) AS -- samples by thread
	-- kind: sample_kind.name
	-- thread_id: thread.id
	-- count: samples
	-- value: their weight
SELECT kind, thread_id, sum(count), sum(value) FROM sample GROUP BY kind, thread_id;

CREATE VIEW futex_weight(kind, stack_id, thread_id, count, value) AS -- samples of waits on futexes by stack and thread
	-- kind: lock, futex
	-- stack_id: stack.id
	-- thread_id: thread.id
	-- count: samples
	-- value: their weight, ns
SELECT kind, stack_id, thread_id, sum(count), sum(value) FROM sample WHERE kind IN ('lock', 'futex') GROUP BY kind, stack_id, thread_id;

CREATE VIEW error_weight(kind, error, count, value) AS -- samples by how their stack ended
	-- kind: sample_kind.name
	-- error: stack.error; NULL: complete
	-- count: samples
	-- value: their weight
SELECT kind, error, sum(count), sum(value) FROM sample JOIN stack ON stack.id = stack_id GROUP BY kind, error;

-- ---- what reports show

CREATE VIEW kind_total AS -- samples by kind
	-- kind: sample_kind.name
	-- count: samples
	-- value: their weight
	-- complete_count: samples with a complete stack
SELECT kind, sum(count) AS count, sum(value) AS value,
	sum(CASE WHEN error IS NULL THEN count ELSE 0 END) AS complete_count
FROM error_weight GROUP BY kind;

CREATE VIEW hot_function AS -- functions with their share of samples
	-- kind: sample_kind.name
	-- self_count: samples with it as the leaf
	-- self_value: their weight
	-- total_count: samples with it anywhere in the stack
	-- total_value: their weight
	-- self_share: of the weight of the kind
	-- total_share: of the weight of the kind
	-- function: name
	-- file: source file
	-- binary: name of the binary
	-- function_id: function.id
SELECT w.kind, w.self_count, w.self_value, w.total_count, w.total_value,
	1.0 * w.self_value / nullif(t.value, 0) AS self_share, 1.0 * w.total_value / nullif(t.value, 0) AS total_share,
	f.name AS function, f.file, b.name AS binary, f.id AS function_id
FROM function_weight w JOIN kind_total t ON t.kind = w.kind JOIN function f ON f.id = w.function_id
	LEFT JOIN binary b ON b.id = f.binary_id;

CREATE VIEW hot_thread AS -- threads with their share of samples
	-- kind: sample_kind.name
	-- count: samples
	-- value: their weight
	-- share: of the weight of the kind
	-- tid: thread
	-- comm: its name
	-- pid: process
	-- process: its name
	-- host: host name
	-- thread_id: thread.id
	-- process_id: process.id
SELECT w.kind, w.count, w.value, 1.0 * w.value / nullif(k.value, 0) AS share, t.tid, t.comm, p.pid,
	p.comm AS process, c.host, t.id AS thread_id, p.id AS process_id
FROM thread_weight w JOIN kind_total k ON k.kind = w.kind LEFT JOIN thread t ON t.id = w.thread_id
	LEFT JOIN process p ON p.id = t.process_id LEFT JOIN capture c ON c.id = p.capture_id;

CREATE VIEW hot_process AS -- processes with their share of samples
	-- kind: sample_kind.name
	-- count: samples
	-- value: their weight
	-- share: of the weight of the kind
	-- threads: with samples
	-- pid: process
	-- comm: its name
	-- exe: path of the program
	-- cgroup: path of its cgroup
	-- container_id: from the cgroup path
	-- host: host name
	-- process_id: process.id
SELECT h.kind, sum(h.count) AS count, sum(h.value) AS value, sum(h.share) AS share, count(*) AS threads, p.pid,
	p.comm, p.exe, p.cgroup, p.container_id, h.host, p.id AS process_id
FROM hot_thread h LEFT JOIN process p ON p.id = h.process_id GROUP BY h.kind, h.process_id;

CREATE VIEW stack_completeness AS -- shares of complete and truncated stacks
	-- kind: sample_kind.name
	-- count: samples
	-- value: their weight
	-- share: of the samples of the kind
	-- cause: why stacks are truncated; complete
SELECT e.kind, e.count, e.value, 1.0 * e.count / nullif(t.count, 0) AS share, coalesce(e.error, 'complete') AS cause
FROM error_weight e JOIN kind_total t ON t.kind = e.kind;

CREATE VIEW binary_symbols AS -- binaries with their symbols and the samples they concern
	-- binary_id: binary.id
	-- name: last part of the path
	-- path: as the process sees it
	-- build_id: hex
	-- symbols: dwarf | symtab | dynsym | none
	-- why: the reason when it is less than dwarf
	-- self_count: samples with a leaf in it, of kinds in ns
	-- self_value: their weight
SELECT b.id AS binary_id, b.name, b.path, b.build_id, b.symbols, b.why, ifnull(sum(w.self_count), 0) AS self_count,
	ifnull(sum(w.self_value), 0) AS self_value
FROM binary b LEFT JOIN binary_weight w ON w.binary_id = b.id AND w.kind IN (SELECT name FROM sample_kind WHERE unit = 'ns')
GROUP BY b.id;

CREATE VIEW loss_cause AS -- losses of all captures by cause
	-- source: probe or part of obrec
	-- cause: why
	-- count: events
	-- affects: as in loss
SELECT source, cause, sum(count) AS count, affects FROM loss GROUP BY source, cause HAVING sum(count) > 0;

CREATE VIEW program_cost AS -- cost of BPF programs per run
	-- capture_id: capture.id
	-- name: of the program
	-- runs: how often it ran
	-- run_ns: CPU time of all runs
	-- ns_per_run: CPU time of a run
SELECT capture_id, name, runs, run_ns, 1.0 * run_ns / nullif(runs, 0) AS ns_per_run FROM program;

CREATE VIEW peer_traffic AS -- bytes and calls of connections by peer
	-- role: client | server
	-- service: name of this end
	-- peer: name of the other end
	-- transport: tcp | udp | unix | unix-dgram
	-- connections: how many
	-- in_bytes: received
	-- out_bytes: sent
	-- receives: system calls that received
	-- sends: system calls that sent
	-- retransmits: TCP segments sent again
	-- rtt_ns: mean smoothed round-trip time
	-- first_ns: when the first was opened
	-- protocol: of their messages
	-- repeated: 1: all are the clients' ends of connections of which the other end is in another row
SELECT role, service, peer, transport, count(*) AS connections, sum(bytes_received) AS in_bytes,
	sum(bytes_sent) AS out_bytes, sum(receives) AS receives, sum(sends) AS sends, sum(retransmits) AS retransmits,
	CAST(1000 * avg(nullif(srtt_us, 0)) AS INTEGER) AS rtt_ns, min(opened_ns) AS first_ns,
	max(protocol) AS protocol, min(role IS 'client' AND other_id IS NOT NULL) AS repeated
FROM connection GROUP BY role, service, peer, transport;

CREATE VIEW exchange AS -- messages with all that is known of them, as `obana messages` shows them
	-- id: message.id
	-- time: HH:MM:SS.UUUUUU
	-- request_ns: last byte of the request
	-- response_ns: last byte of the response
	-- latency_ns: between them
	-- first_byte_ns: request_ns to the response's first byte
	-- protocol: http1, redis, ...
	-- role: client | server
	-- service: name of this end
	-- peer: name of the other end
	-- method: GET, SELECT, ...
	-- target: path, table, ...
	-- status: of the response
	-- error: 1: the response says so
	-- request_bytes: size
	-- response_bytes: size
	-- paired: 1: both were seen
	-- oneway: 1: it has no response
	-- connection: connection.id
	-- transport: tcp | udp | unix | unix-dgram
	-- local_addr: address
	-- local_port: port
	-- remote_addr: address
	-- remote_port: port
	-- tls: 1: plaintext of a TLS library
	-- pid: process
	-- comm: its name
	-- container_id: its container
	-- host: host name
	-- detail: JSON
	-- peer_addr: ADDRESS:PORT of a datagram
	-- client: as the request itself names it: an address or a client id
	-- who: made the request: pid, or ADDRESS:PORT
SELECT m.id, strftime('%H:%M:%S', ifnull(m.request_ns, m.response_ns) / 1000000000, 'unixepoch', 'localtime') ||
		printf('.%06d', ifnull(m.request_ns, m.response_ns) / 1000 % 1000000) AS time,
	m.request_ns, m.response_ns, m.latency_ns, m.first_byte_ns, m.protocol, c.role, c.service, ifnull(m.peer, c.peer) AS peer, m.method, m.target,
	m.status, m.is_error AS error, m.request_bytes, m.response_bytes, m.paired, m.oneway, m.connection_id AS connection,
	c.transport, c.local_addr, c.local_port, c.remote_addr, c.remote_port, c.tls, p.pid, p.comm, p.container_id, a.host,
	m.detail, m.peer_addr,
	CASE WHEN instr(m.detail, '"client":"') -- as the request itself names it: an address or a client id
		THEN substr(m.detail, instr(m.detail, '"client":"') + 10,
			instr(substr(m.detail, instr(m.detail, '"client":"') + 10), '"') - 1) END AS client,
	CASE WHEN c.role = 'client' OR c.transport LIKE 'unix%' THEN 'pid ' || CASE c.role WHEN 'client' THEN p.pid ELSE c.peer_pid END
		ELSE ifnull(m.peer_addr, CASE WHEN instr(c.remote_addr, ':') THEN '[' || c.remote_addr || ']' ELSE c.remote_addr END || ':' || c.remote_port) END AS who
FROM message m LEFT JOIN connection c ON c.id = m.connection_id LEFT JOIN process p ON p.id = c.process_id
	LEFT JOIN capture a ON a.id = c.capture_id;

-- Both are aggregated while obana loads, without a row per message. calls: requests of which the request or the response was
-- captured; a response without a known request is in a row without method. calls, errors and bytes are scaled up if connections
-- were sampled or throttled. Percentiles use the nearest rank; they are exact for up to 64 calls, otherwise within 0.4 %.
CREATE VIEW endpoint AS -- calls by endpoint, added up while loading; scaled where connections were sampled
	-- protocol: http1, redis, ...
	-- role: client | server
	-- service: name of this end
	-- method: GET, SELECT, ...
	-- target: path, table, ...
	-- calls: requests
	-- errors: of them failed
	-- p50_ns: latency
	-- p95_ns: latency
	-- p99_ns: latency
	-- bytes: of requests and responses
	-- unpaired: calls without a latency
SELECT protocol, role, service, method, target, calls, errors, p50_ns, p95_ns, p99_ns,
	request_bytes + response_bytes AS bytes, unpaired
FROM figure WHERE level = 'endpoint';

CREATE VIEW edge AS -- calls by client and server; a connection of which both ends were recorded counts once
	-- client: name of the client
	-- server: name of the server
	-- protocol: http1, redis, ...
	-- calls: requests; 0: connections without messages known
	-- errors: of them failed
	-- bytes: of requests and responses
	-- p50_ns: latency
	-- p95_ns: latency
	-- p99_ns: latency
	-- unpaired: calls without a latency
SELECT client, server, protocol, calls, errors, request_bytes + response_bytes AS bytes, p50_ns, p95_ns, p99_ns, unpaired
FROM flow;
