# gdb -x oracle.py: from the function `begin` on, writes all registers after each of STEPS instructions to the file OUT,
# and with BACK those on the way back, in the same order, to that file
import gdb, os, re

other = {"orig_rax", "fiseg", "fioff", "foseg", "fooff", "fop"}        # what a debugger sees of a live process differs by nature

def state():
    lines = gdb.execute("maint print raw-registers", to_string=True).splitlines()
    rows = [line.split() for line in lines]
    return " ".join(r[0] + "=" + r[-1] for r in rows if len(r) > 5 and r[1].isdigit() and r[0] not in other)

RESUME = 0x10000        # set in a repeated instruction that stepping has interrupted
ARITHMETIC = 0x8d5
intel = "GenuineIntel" in open("/proc/cpuinfo").read()

# Within a repeated comparison, Intel's processors show the flags from before it, and AMD's, as the replay, those of the last element
def comparable(lines):
    out, last = [], None
    for line in lines:
        rip = re.search(r"\brip=(\S+)", line).group(1)
        hide = RESUME | (ARITHMETIC if intel and rip == last else 0)
        out.append(re.sub(r"eflags=(\S+)", lambda m: "eflags=%#x" % (int(m.group(1), 0) & ~hide), line))
        last = rip
    return out

gdb.execute("set pagination off")
gdb.execute("break *begin", to_string=True)
gdb.execute("continue", to_string=True)
steps = int(os.environ["STEPS"])

def walk(command, name, order):
    out = [state()]
    for i in range(steps):
        gdb.execute(command, to_string=True)
        out.append(state())
    with open(name, "w") as f:
        f.write("\n".join(comparable(out[::order])) + "\n")

walk("stepi", os.environ["OUT"], 1)
if os.environ.get("BACK"):
    walk("reverse-stepi", os.environ["BACK"], -1)
