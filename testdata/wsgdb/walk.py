# walk.py CAPTURE LACKEY LO HI HANDLER [OPTION...]: goes through a run by packets, and compares each stop with what the references in LACKEY
# say.  Watched are places in [LO, HI); HANDLER is where the signal handler begins.  Prints what was compared, a line each.  Of
# each kind it looks at one place in FEW.
import os, random, re, subprocess, sys

capture, lackey = sys.argv[1:3]
lo, hi, handler = (int(a, 16) for a in sys.argv[3:6])
pcs, refs = [], []
for line in open(lackey):
    kind, place = line.split()
    addr, size = place.split(",")
    addr, size = int(addr, 16), int(size)
    if kind == "I":
        pcs.append(addr)
    else:
        refs.append((len(pcs) - 1, kind, addr, size))
repeated = {a for a, b in zip(pcs, pcs[1:]) if a == b}
r = random.Random(11)
few = int(os.environ.get("FEW", "1"))

p = subprocess.Popen(["wsgdb", *sys.argv[6:], capture], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
inp = p.stdout

def get():
    while inp.read(1) != b"$":
        pass
    body = b""
    while (c := inp.read(1)) != b"#":
        body += c
    inp.read(2)
    p.stdin.write(b"+")
    return re.sub(r"(.)\*(.)", lambda m: m[1] * (ord(m[2]) - 28), body.decode("latin-1"), flags=re.DOTALL)

def ask(text):
    p.stdin.write(b"$" + text.encode() + b"#%02x" % (sum(text.encode()) & 255))
    a = get()
    said = ""
    while a[:1] == "O" and a != "OK":
        said += bytes.fromhex(a[1:]).decode()
        a = get()
    return a, said

def when():
    return int(ask("qRcmd," + b"when".hex())[1].split()[2])

def go(n):
    ask("qRcmd," + (b"goto %d" % n).hex())
    ask("vCont;s:p1.1")
    ask("vCont;s:p1.1")

def pc():
    return int.from_bytes(bytes.fromhex(ask("p10")[0]), "little")

def check(what, got, want):
    if got != want:
        print("WRONG: %s: %s, not %s" % (what, got, want))
        sys.exit(1)

ask("qSupported:multiprocess+")
ask("QPassSignals:1e")
last = len(pcs)

# to any place
for k in range(150 // few):
    n = r.randrange(last)
    while pcs[n] in repeated:
        n = r.randrange(last)
    go(n)
    check("goto %d" % n, (when(), pc()), (n, pcs[n]))
print("places")

# step by step from somewhere, both ways; the delivery of a signal is a step of its own
def plain(n):
    return not repeated.intersection(pcs[n - 60:n + 60]) and handler not in pcs[n - 60:n + 60]

for k in range(12 // few):
    n = r.randrange(2000, last - 2000)
    while not plain(n):
        n = r.randrange(2000, last - 2000)
    go(n)
    for i in range(50):
        ask("vCont;s:p1.1")
    check("50 steps", pc(), pcs[n + 50] if when() == n + 50 else None)
    for i in range(100):
        ask("bs")
    check("100 steps back", (when(), pc()), (n - 50, pcs[n - 50]))
print("steps")

n = pcs.index(handler)
go(n)
back_to = pc()
check("before the signal", (when(), back_to), (n, pcs[n - 1] + 2))	# after the system call that sends it
for i in range(2):
    ask("vCont;s:p1.1")
    check("the handler, step %d" % i, (when(), pc()), (n + i, pcs[n + i]))
ask("bs")
check("back to the handler", (when(), pc()), (n, handler))
ask("bs")
check("back to before the signal", (when(), pc()), (n, back_to))
ask("bs")
check("back to the system call", (when(), pc()), (n - 1, pcs[n - 1]))
print("signal")

def walk(hits, after, what, rounds):
    """hits: the instructions at which it stops, ascending; after: forward one further"""
    for k in range(rounds):
        back = r.random() < 0.5
        here = when()
        answer = ask("bc" if back else "vCont;c:p1.1")[0]
        if back:
            want = max([h for h in hits if h < here], default=None)
        else:
            want = min([h + after for h in hits if h + after > here], default=None)
        if want is None:
            check(what, answer[3:12], "replaylog")
            go(r.randrange(last))
        else:
            check("%s from %d %s" % (what, here, "back" if back else "on"), when(), want)

count = {}
for n, a in enumerate(pcs):
    count.setdefault(a, []).append(n)
for k in range(12 // few):
    some = r.sample([a for a in count if a not in repeated and len(count[a]) < 3000], 1 + k % 4)
    for a in some:
        ask("Z%d,%x,1" % (k % 2, a))
    go(r.randrange(last))
    walk(sorted(n for a in some for n in count[a]), 0, "breakpoints " + " ".join(map(hex, some)), 12)
    for a in some:
        ask("z%d,%x,1" % (k % 2, a))
print("breakpoints")

near = [x for x in refs if lo <= x[2] < hi and pcs[x[0]] not in repeated]
for k in range(16 // few):
    n, kind, addr, size = r.choice(near)
    size = r.choice([1, 2, 4, 8, size, 24])
    which = "SM" if k % 3 == 2 else "LM" if k % 3 == 1 else "LSM"
    hits = sorted({x[0] for x in refs if x[1] in which and x[2] < addr + size and addr < x[2] + x[3]})
    if [h for h in hits if pcs[h] in repeated]:
        continue
    packet = "%d,%x,%x" % ({"LM": 3, "LSM": 4, "SM": 2}[which], addr, size)
    if which == "SM":
        # a write that changes nothing does not count: which do, memory says
        changed = []
        for h in hits:
            go(h)
            was = ask("m%x,%x" % (addr, size))[0]
            ask("vCont;s:p1.1")
            if ask("m%x,%x" % (addr, size))[0] != was:
                changed.append(h)
        hits = changed
    ask("Z" + packet)
    go(r.randrange(last))
    walk(hits, 1, "watched " + packet, 10)
    ask("z" + packet)
print("watched memory")
p.stdin.close()
print("status %d" % p.wait())
