# What a call sent from is taken away while it still waits: its payload cannot be read when it ends, which is counted once a call; its bytes
# are counted all the same, and the next calls' payload is there.
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
cat >"$T/peer.py" <<'P'
import ctypes, mmap, os, socket, threading
SIZE = 8 << 20 # more than any socket takes while nobody reads
libc = ctypes.CDLL(None, use_errno=True)
listener = socket.create_server(("127.0.0.1", 0))
a = socket.create_connection(listener.getsockname())
b = listener.accept()[0]
class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
def plainly(at): return libc.send(a.fileno(), ctypes.c_void_p(at), ctypes.c_size_t(SIZE), 0)
def in_pieces(at): return libc.writev(a.fileno(), (Piece * 2)(Piece(at, 4096), Piece(at + 4096, SIZE - 4096)), 2)
libc.send.restype = libc.writev.restype = ctypes.c_ssize_t
for way in plainly, in_pieces:
    m = mmap.mmap(-1, SIZE)
    m[:9] = b"taken off"
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    sent = []
    t = threading.Thread(target=lambda: sent.append(way(at)))
    t.start()
    got = len(b.recv(1)) # the first page has gone
    assert not libc.munmap(ctypes.c_void_p(at), ctypes.c_size_t(4096))
    while got < SIZE: got += len(b.recv(65536))
    t.join()
    assert sent == [SIZE], sent
    a.sendall(b"still there")
    assert b.recv(100) == b"still there"
print("port", a.getsockname()[1])
os._exit(0) # not through what is gone
P
for way in "" "--attach l4=syscall"; do
	a=$T/a.obz
	"$OBREC" -q -e l4,l7 --payload-unknown --debuginfo none $way -o "$a" -- python3 "$T/peer.py" >"$T/out" 2>"$T/err" || fail "${way:-as usual}: $(cat "$T/out" "$T/err")"
	port=$(sed -n 's/^port //p' "$T/out")
	is "losses ${way:-as usual}" "$(sql "$a" "SELECT source, cause, count FROM loss")" "l7,payload: memory of the call not readable,2"
	is "sent" "$(sql "$a" "SELECT sends, bytes_sent FROM connection WHERE local_port = $port")" "4,$((2 * (8 << 20) + 22))"
	payloads "$a" >"$T/raw"
	is "the next calls' payload, at both ends" "$(grep -ao 'still there' "$T/raw" | wc -l)" 4
	rm "$a"
done
