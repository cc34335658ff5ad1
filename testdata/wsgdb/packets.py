# packets.py [-p PORT] ARGUMENT...: talks to `wsgdb ARGUMENT...` (or to that port), one packet for each line of standard
# input, and prints the answers, a line each; text for the user comes before, after "> ".  A line "!HEX" sends raw bytes.
import re, socket, subprocess, sys

args = sys.argv[1:]
ended = False
if args[0] == "-p":
    peer = socket.create_connection(("127.0.0.1", int(args[1])), timeout=60)
    tx, rx = peer.sendall, peer.makefile("rb").read
else:
    p = subprocess.Popen(["wsgdb"] + args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    tx, rx = p.stdin.write, p.stdout.read

def get():
    c = rx(1)
    while c and c != b"$":
        c = rx(1)
    if not c:
        return None
    body = b""
    while (c := rx(1)) != b"#":
        if not c:
            return None
        body += c
    if int(rx(2), 16) != sum(body) & 255:
        print("BAD SUM")
    # a byte, * and the number of further ones, plus 29
    body = re.sub(rb"(.)\*(.)", lambda m: m[1] * (m[2][0] - 28), body, flags=re.DOTALL)
    if not ended:
        tx(b"+")
    return body

try:
    for line in sys.stdin.buffer:
        line = line.rstrip(b"\n")
        if line.startswith(b"!"):
            tx(bytes.fromhex(line[1:].decode()))
            continue
        tx(b"$" + line + b"#%02x" % (sum(line) & 255))
        a = get()
        while a and a[:1] == b"O" and a != b"OK":
            print("> " + bytes.fromhex(a[1:].decode()).decode("latin-1").rstrip("\n"))
            a = get()
        print("gone" if a is None else a.decode("latin-1"))
        sys.stdout.flush()
except BrokenPipeError:
    print("gone")
if args[0] != "-p":
    p.stdin.close()
    ended = True
    while (a := get()) is not None:
        print(a.decode("latin-1"))
    print("status %d" % p.wait())
