# What tshark finds in the captures of obana_link_captures is what link_captures.tshark says: the number of requests and of
# responses of HTTP, DNS and RESP. The table is tshark 4.0's; a row is there where it is not one of each. One sharkd reads them all:
# a start of tshark takes longer than a hundred captures.
set -u
export LC_ALL=C
for t in tshark sharkd; do command -v $t >/dev/null || { echo "needs $t"; exit 77; }; done
tshark --version | head -1 | grep -q ' 4\.0\.' || { echo "the table is of tshark 4.0"; exit 77; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 "$TOP/tests/tools/link_captures.py" "$T/in" || exit 1
mkdir -p "$T/wireshark"
{
	printf 'decode_as_entry: tcp.port,%s,(none),HTTP\n' 50000 55000 60000
	printf 'decode_as_entry: tcp.port,6379,(none),RESP\n'
} >"$T/wireshark/decode_as_entries"
fields='"column0":"http.request.method:1","column1":"http.response.code:1","column2":"dns.flags.response:1","column3":"resp.array.length:1","column4":"resp.string:1"'
n=0 # an id of 0 is none
for f in "$T"/in/*; do
	printf '{"jsonrpc":"2.0","id":%d,"method":"load","params":{"file":"%s"}}\n{"jsonrpc":"2.0","id":%d,"method":"frames","params":{%s}}\n' $((++n)) "$f" $((++n)) "$fields"
done | XDG_CONFIG_HOME=$T sharkd - >"$T/answers" 2>"$T/err"
python3 - "$T/in" "$T/answers" >"$T/table" <<'PY' || { tail -n 5 "$T/err"; exit 1; }
import json, os, sys
answers = {answer["id"]: answer for answer in map(json.loads, open(sys.argv[2]))}
for n, cause in enumerate(sorted(os.listdir(sys.argv[1]))):
    # A file that is cut is loaded without an answer.
    frames = [] if "error" in answers.get(2 * n + 1, {}) else answers[2 * n + 2]["result"]
    asks = answered = 0
    for method, status, dns, array, string in (frame["c"] for frame in frames):
        asks += (method != "") + (dns == "Message is a query") + (array != "")
        answered += (status != "") + (dns == "Message is a response") + (string != "")
    if (asks, answered) != (1, 1):
        print(cause, asks, answered)
PY
diff "$TOP/tests/cli/link_captures.tshark" "$T/table"
