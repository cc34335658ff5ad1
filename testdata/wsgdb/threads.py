# threads.py CAPTURE FETCHES START: steps each thread of a capture, forward and back, from START instructions on, and compares
# its program counters with those in FETCHES.N, the instructions that thread N fetched, one in a line, in hexadecimal.
import re, subprocess, sys

capture, fetches, start = sys.argv[1], sys.argv[2], int(sys.argv[3])
p = subprocess.Popen(["wsgdb", capture], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

def ask(text):
    p.stdin.write(b"$" + text.encode() + b"#%02x" % (sum(text.encode()) & 255))
    while True:
        c = p.stdout.read(1)
        while c != b"$":
            if not c:
                raise SystemExit("wsgdb has ended")
            c = p.stdout.read(1)
        body = b""
        while (c := p.stdout.read(1)) != b"#":
            body += c
        p.stdout.read(2)
        p.stdin.write(b"+")
        body = re.sub(rb"(.)\*(.)", lambda m: m[1] * (m[2][0] - 28), body, flags=re.DOTALL).decode()
        if body[0] != "O" or body == "OK":
            return body

def pc(thread):
    assert ask("Hgp1.%x" % thread) == "OK", thread
    return int.from_bytes(bytes.fromhex(ask("p10")), "little")

def goto(n):
    assert ask("qRcmd," + ("goto %d" % n).encode().hex()) == "OK"
    ask("vCont;s")          # it is to look at the libraries
    ask("vCont;s")

STEPS = 120
assert "multiprocess+" in ask("qSupported:multiprocess+")
goto(start)
threads = [int(t.split(".")[1], 16) for t in ask("qfThreadInfo")[1:].split(",")]
assert ask("qsThreadInfo") == "l"
print("threads", *threads)
for t in threads:
    want = [int(l, 16) for l in open("%s.%d" % (fetches, t))]
    goto(start)
    seen, calls = [pc(t)], 0
    while len(seen) <= STEPS:
        a = ask("vCont;s:p1.%x;c" % t)
        if not a.startswith("T05") or "replaylog" in a or "thread:p1.%x;" % t not in a:
            break
        seen.append(pc(t))
    if ask("Hgp1.%x" % t) != "OK":              # it has ended: back to where it was alive
        goto(start)
        for _ in seen[1:]:
            ask("vCont;s:p1.%x;c" % t)
    # where they may be in the list; the steps back leave one or more of these places
    at = [i for i in range(len(want)) if want[i:i + len(seen)] == seen]
    if not at:
        print("thread %d: %d steps are not those of the trace" % (t, len(seen)))
        continue
    here, back, bad = len(seen) - 1, 0, ""
    assert ask("Hcp1.%x" % t) == "OK"
    while max(at) + here > 0 and back < 1.5 * STEPS:
        a = ask("bs")
        here -= 1
        back += 1
        now = pc(t)
        at = [i for i in at if i + here >= 0 and want[i + here] == now]
        if not at or "thread:p1.%x;" % t not in a:
            bad = "; step %d back is to 0x%x: %s" % (back, pc(t), a)
            break
    assert ask("Hcp1.0") == "OK"
    print("thread %d: steps %s, back %s%s" % (t, "yes" if len(seen) > 50 else len(seen), "yes" if back > 50 else back, bad))
p.stdin.close()
print("status", p.wait())
