# Run by gdb, with the program and wsgdb: lines INSTRUCTION PC KIND:ADDRESS/SIZE|- PART NAME<tab>VALUE of `list` are what gdb
# says: the address and size of NAME are those of the reference, before or after the instruction; and so is its value.
import re

import gdb


def evaluate(name):
    try:
        v = gdb.parse_and_eval(name)
        size = v.type.sizeof
        where = int(v.address) if v.address is not None else None
        return where, size, re.sub(r"^\([^()]*\*\) ", "", gdb.execute("output " + name, to_string=True))
    except (gdb.error, gdb.MemoryError):
        return None


def right(ref, part, value, got):
    if not got:
        return False
    where, size, text = got
    if ref == "-":
        return text == value
    _, at = ref.split(":")
    addr, width = int(at.split("/")[0], 16), int(at.split("/")[1])
    if where is None:
        return False
    if part:
        return where <= addr and addr + width <= where + size
    return where == addr and size == width and text == value


for line in open("list"):
    head, value = line.rstrip("\n").split("\t")
    n, pc, ref, part, name = head.split(" ", 4)
    gdb.execute("monitor goto " + n, to_string=True)
    gdb.execute("stepi", to_string=True)
    if int(gdb.parse_and_eval("(long)$pc")) != int(pc, 16):
        print("another place:", line.rstrip())
        continue
    before = evaluate(name)
    gdb.execute("stepi", to_string=True)
    after = evaluate(name)
    if right(ref, part == "1", value, after if ref[0] in "-wm" else before):
        print("right")
    else:
        print("wrong:", line.rstrip(), before, after)
