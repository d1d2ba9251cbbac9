-- SPDX-License-Identifier: BSD-2-Clause
-- What obana knows of the archives it was given. Tables are filled from records, views say what reports show.
--
-- Times are integer nanoseconds of CLOCK_REALTIME, durations end in _ns as well. Ids are obana's own: several
-- captures lie side by side. A kernel address is negative (64 bits, signed): printf('%x', address) shows it.

CREATE TABLE capture(
	id INTEGER PRIMARY KEY, uuid TEXT, host TEXT, kernel TEXT, arch TEXT, started_at_ns INTEGER,
	duration_ns INTEGER, complete INTEGER, stop_reason TEXT, command TEXT,
	path TEXT, version TEXT, probes TEXT, cpus INTEGER, freq INTEGER,
	damage TEXT); -- what is missing or broken in the archive; NULL: nothing

CREATE TABLE process(
	id INTEGER PRIMARY KEY, capture_id INTEGER, pid INTEGER, ppid INTEGER, comm TEXT, exe TEXT, cmdline TEXT,
	cgroup TEXT, container_id TEXT, started_ns INTEGER, exited_ns INTEGER, ns_pid INTEGER, netns INTEGER);
CREATE INDEX process_pid ON process(pid, capture_id, started_ns);
CREATE TABLE thread(id INTEGER PRIMARY KEY, process_id INTEGER, tid INTEGER, comm TEXT);
CREATE TABLE label(capture_id INTEGER, process_id INTEGER, key TEXT, value TEXT); -- process_id NULL: of the capture
CREATE UNIQUE INDEX label_key ON label(capture_id, ifnull(process_id, 0), key);

CREATE TABLE binary(
	id INTEGER PRIMARY KEY, build_id TEXT, path TEXT,
	symbols TEXT, -- dwarf | symtab | dynsym | none; NULL for what has its symbols from the host (kernel, JIT)
	why TEXT,     -- the reason when it is less than dwarf
	name TEXT);
CREATE TABLE function(id INTEGER PRIMARY KEY, name TEXT, file TEXT, line INTEGER, binary_id INTEGER);
CREATE TABLE frame(
	id INTEGER PRIMARY KEY, kind TEXT, binary_id INTEGER, address INTEGER, function_id INTEGER, file TEXT,
	line INTEGER, inlined INTEGER);
CREATE TABLE stack(id INTEGER PRIMARY KEY, truncated INTEGER, error TEXT);
CREATE TABLE stack_frame(
	stack_id INTEGER, depth INTEGER, frame_id INTEGER, PRIMARY KEY(stack_id, depth)) WITHOUT ROWID;
CREATE TABLE sample(
	capture_id INTEGER, kind TEXT, ts_ns INTEGER, thread_id INTEGER, stack_id INTEGER, count INTEGER,
	value INTEGER, message_id INTEGER);

CREATE TABLE connection(
	id INTEGER PRIMARY KEY, capture_id INTEGER, process_id INTEGER, transport TEXT, local_addr TEXT,
	local_port INTEGER, remote_addr TEXT, remote_port INTEGER, role TEXT, protocol TEXT, tls INTEGER,
	opened_ns INTEGER, closed_ns INTEGER, bytes_sent INTEGER, bytes_received INTEGER, sends INTEGER,
	receives INTEGER, retransmits INTEGER, srtt_us INTEGER, peer_pid INTEGER, netns INTEGER,
	sampled INTEGER,  -- 1: its payload was kept
	service TEXT, peer TEXT,             -- names of this end and of the other
	other_id INTEGER, counted INTEGER,   -- the connection that is its other end, if recorded; of the two one is counted
	sent_seq INTEGER, received_seq INTEGER, -- TCP sequence numbers of position 0
	shares_id INTEGER); -- the connection whose socket this process uses as well; the messages of both are that one's
CREATE TABLE connection_stat( -- what moved since the row before
	connection_id INTEGER, ts_ns INTEGER, bytes_sent INTEGER, bytes_received INTEGER, sends INTEGER,
	receives INTEGER, retransmits INTEGER, srtt_us INTEGER);
CREATE TABLE message( -- request_ns, response_ns: their last bytes; latency_ns between them, first_byte_ns to the response's first
	id INTEGER PRIMARY KEY, connection_id INTEGER, protocol TEXT, method TEXT, target TEXT, status TEXT,
	is_error INTEGER, request_ns INTEGER, response_ns INTEGER, latency_ns INTEGER, first_byte_ns INTEGER,
	request_bytes INTEGER, response_bytes INTEGER, paired INTEGER, oneway INTEGER,
	detail TEXT, -- JSON; "end":"not seen", "response_bytes":"at least", "request_bytes":"at least": it is more than is shown
	peer TEXT, peer_addr TEXT, -- of a datagram whose socket has many peers: name, ADDRESS:PORT; NULL: as its connection's
	is_call INTEGER); -- calls are sum(is_call); 0: a response alone of one of the requests alone before it, which one is not known
CREATE TABLE clock_offset( -- other_id's clock minus capture_id's, from calls sent in one and received in the other
	capture_id INTEGER, other_id INTEGER, offset_ns INTEGER, delay_ns INTEGER, pairs INTEGER);
CREATE TABLE unkept( -- calls of which payload was not kept that held more messages, and what is known to be missing for it
	capture_id INTEGER, protocol TEXT, places INTEGER, bytes INTEGER, longest INTEGER, -- bytes of a call
	missing INTEGER, unpaired INTEGER, no_ends INTEGER, partials INTEGER); -- no_ends: responses that ended later than seen; partials: messages of more bytes than seen
CREATE TABLE scaling( -- captures of which payload was kept of a share of the connections, by --sample or --cpu-budget
	capture_id INTEGER, least REAL, steps INTEGER, -- the least share; how often --cpu-budget changed it
	connections INTEGER, seen INTEGER, calls INTEGER, -- with messages in the figures; those; what they were scaled to
	calls_error INTEGER); -- twice the standard error of calls
CREATE TABLE figure( -- messages added up by obana while it loads, sampling scaled back; what a level does not tell apart is NULL
	level TEXT, -- protocol | peer | endpoint | method | call
	start_ns INTEGER, -- of the interval
	role TEXT, service TEXT, peer TEXT, protocol TEXT, method TEXT, target TEXT, calls INTEGER, errors INTEGER,
	unpaired INTEGER, -- calls of which one half was seen, or both and not that they belong together: they have no latency
	request_bytes INTEGER, response_bytes INTEGER, min_ns INTEGER, mean_ns INTEGER, p50_ns INTEGER,
	p95_ns INTEGER, p99_ns INTEGER, max_ns INTEGER, first_ns INTEGER, last_ns INTEGER,
	connection_id INTEGER, -- where it was seen first
	timed INTEGER, sum_ns INTEGER); -- how many have a latency, and its sum
CREATE TABLE figure_bucket( -- of level method: calls of at most high_ns, cumulative
	figure_id INTEGER, high_ns INTEGER, count INTEGER, PRIMARY KEY(figure_id, high_ns)) WITHOUT ROWID;
CREATE TABLE flow( -- edges; what both ends of a connection recorded counts once; calls 0: connections without messages known
	client TEXT, server TEXT, protocol TEXT, calls INTEGER, errors INTEGER, request_bytes INTEGER,
	response_bytes INTEGER, p50_ns INTEGER, p95_ns INTEGER, p99_ns INTEGER, mean_ns INTEGER,
	client_ns INTEGER, server_ns INTEGER, -- means of the same calls as the client and as the server saw them: their difference is the network's
	unpaired INTEGER); -- as in figure
CREATE TABLE histogram(capture_id INTEGER, probe TEXT, key TEXT, low INTEGER, high INTEGER, count INTEGER);
CREATE TABLE event(capture_id INTEGER, probe TEXT, ts_ns INTEGER, thread_id INTEGER, fields TEXT);
CREATE TABLE loss(capture_id INTEGER, source TEXT, cause TEXT, count INTEGER);
CREATE TABLE program(capture_id INTEGER, name TEXT, runs INTEGER, run_ns INTEGER);
CREATE TABLE thinning( -- steps of --cpu-budget: from ts_ns on the share `kept` of what is kept
	capture_id INTEGER, ts_ns INTEGER, what TEXT, cause TEXT, was REAL, kept REAL);

-- ---- weights: what samples add up to. obana can fill these four itself while it loads, without the rows of
-- sample and stack_frame; the definitions are these.

-- A function counts once in a stack, however often it is there.
CREATE VIEW function_weight(kind, function_id, self_count, self_value, total_count, total_value) AS
WITH weight AS (
	SELECT kind, stack_id, sum(count) AS count, sum(value) AS value FROM sample GROUP BY kind, stack_id),
member AS (
	SELECT stack_id, function_id, min(depth) = 0 AS leaf
	FROM stack_frame JOIN frame ON frame.id = frame_id GROUP BY stack_id, function_id)
SELECT kind, function_id, sum(count * leaf), sum(value * leaf), sum(count), sum(value)
FROM weight JOIN member USING (stack_id) GROUP BY kind, function_id;

CREATE VIEW binary_weight(kind, binary_id, self_count, self_value) AS
SELECT sample.kind, binary_id, sum(count), sum(value)
FROM sample JOIN stack_frame ON stack_frame.stack_id = sample.stack_id AND depth = 0 JOIN frame ON frame.id = frame_id
GROUP BY sample.kind, binary_id;

CREATE VIEW thread_weight(kind, thread_id, count, value) AS
SELECT kind, thread_id, sum(count), sum(value) FROM sample GROUP BY kind, thread_id;

CREATE VIEW error_weight(kind, error, count, value) AS -- error NULL: complete
SELECT kind, error, sum(count), sum(value) FROM sample JOIN stack ON stack.id = stack_id GROUP BY kind, error;

-- ---- what reports show

CREATE VIEW kind_total AS
SELECT kind, sum(count) AS count, sum(value) AS value,
	sum(CASE WHEN error IS NULL THEN count ELSE 0 END) AS complete_count
FROM error_weight GROUP BY kind;

CREATE VIEW hot_function AS
SELECT w.kind, w.self_count, w.self_value, w.total_count, w.total_value,
	1.0 * w.self_value / nullif(t.value, 0) AS self_share, 1.0 * w.total_value / nullif(t.value, 0) AS total_share,
	f.name AS function, f.file, b.name AS binary, f.id AS function_id
FROM function_weight w JOIN kind_total t ON t.kind = w.kind JOIN function f ON f.id = w.function_id
	LEFT JOIN binary b ON b.id = f.binary_id;

CREATE VIEW hot_thread AS
SELECT w.kind, w.count, w.value, 1.0 * w.value / nullif(k.value, 0) AS share, t.tid, t.comm, p.pid,
	p.comm AS process, c.host, t.id AS thread_id, p.id AS process_id
FROM thread_weight w JOIN kind_total k ON k.kind = w.kind LEFT JOIN thread t ON t.id = w.thread_id
	LEFT JOIN process p ON p.id = t.process_id LEFT JOIN capture c ON c.id = p.capture_id;

CREATE VIEW hot_process AS
SELECT h.kind, sum(h.count) AS count, sum(h.value) AS value, sum(h.share) AS share, count(*) AS threads, p.pid,
	p.comm, p.exe, p.cgroup, p.container_id, h.host, p.id AS process_id
FROM hot_thread h LEFT JOIN process p ON p.id = h.process_id GROUP BY h.kind, h.process_id;

CREATE VIEW stack_completeness AS
SELECT e.kind, e.count, e.value, 1.0 * e.count / nullif(t.count, 0) AS share, coalesce(e.error, 'complete') AS cause
FROM error_weight e JOIN kind_total t ON t.kind = e.kind;

CREATE VIEW binary_symbols AS
SELECT b.id AS binary_id, b.name, b.path, b.build_id, b.symbols, b.why, ifnull(sum(w.self_count), 0) AS self_count,
	ifnull(sum(w.self_value), 0) AS self_value
FROM binary b LEFT JOIN binary_weight w ON w.binary_id = b.id GROUP BY b.id;

CREATE VIEW loss_cause AS
SELECT source, cause, sum(count) AS count FROM loss GROUP BY source, cause HAVING sum(count) > 0;

CREATE VIEW program_cost AS
SELECT capture_id, name, runs, run_ns, 1.0 * run_ns / nullif(runs, 0) AS ns_per_run FROM program;

-- Bytes and calls of connections by who is at the other end.
CREATE VIEW peer_traffic AS
SELECT role, service, peer, transport, count(*) AS connections, sum(bytes_received) AS in_bytes,
	sum(bytes_sent) AS out_bytes, sum(receives) AS receives, sum(sends) AS sends, sum(retransmits) AS retransmits,
	CAST(1000 * avg(nullif(srtt_us, 0)) AS INTEGER) AS rtt_ns, min(opened_ns) AS first_ns,
	max(protocol) AS protocol
FROM connection GROUP BY role, service, peer, transport;

-- Every message with all that is known of it: what obana messages shows and --format names.
CREATE VIEW exchange AS
SELECT m.id, strftime('%H:%M:%S', ifnull(m.request_ns, m.response_ns) / 1000000000, 'unixepoch', 'localtime') ||
		printf('.%06d', ifnull(m.request_ns, m.response_ns) / 1000 % 1000000) AS time,
	m.request_ns, m.response_ns, m.latency_ns, m.first_byte_ns, m.protocol, c.role, c.service, ifnull(m.peer, c.peer) AS peer, m.method, m.target,
	m.status, m.is_error AS error, m.request_bytes, m.response_bytes, m.paired, m.oneway, m.connection_id AS connection,
	c.transport, c.local_addr, c.local_port, c.remote_addr, c.remote_port, c.tls, p.pid, p.comm, p.container_id, a.host,
	m.detail, m.peer_addr,
	CASE WHEN instr(m.detail, '"client":"') -- as the request itself names it: an address or a client id
		THEN substr(m.detail, instr(m.detail, '"client":"') + 10,
			instr(substr(m.detail, instr(m.detail, '"client":"') + 10), '"') - 1) END AS client
FROM message m LEFT JOIN connection c ON c.id = m.connection_id LEFT JOIN process p ON p.id = c.process_id
	LEFT JOIN capture a ON a.id = c.capture_id;

-- Both are added up while obana loads, without a row for each message. calls: requests, as far as either half was seen; a response
-- whose request is not known is a row without method. They, errors and bytes are scaled to all where connections were sampled or
-- thinned out. Percentiles are of the nearest rank, of 64 and fewer calls exact, of more right to 0.4 %.
CREATE VIEW endpoint AS
SELECT protocol, role, service, method, target, calls, errors, p50_ns, p95_ns, p99_ns,
	request_bytes + response_bytes AS bytes, unpaired
FROM figure WHERE level = 'endpoint';

-- A connection of which both ends were recorded counts once. calls 0: connections without messages known.
CREATE VIEW edge AS
SELECT client, server, protocol, calls, errors, request_bytes + response_bytes AS bytes, p50_ns, p95_ns, p99_ns, unpaired
FROM flow;
