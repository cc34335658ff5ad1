# Run by gdb, with the program and wsgdb: lines INSTRUCTION PC KIND:ADDRESS/SIZE|- PART NAME<tab>VALUE of `list` are what gdb
# says: the address and size of NAME are those of the reference, before or after the instruction; and so is its value.
import re

import gdb


def bits(name):
    """The structure that a member of bits is in, and where in it: its first byte, and how many"""
    m = re.match(r"(.*?)(->|\.)(\w+)$", name)
    if not m:
        return None
    up = gdb.parse_and_eval(m.group(1))
    if m.group(2) == "->":
        up = up.dereference()
    up = up.referenced_value() if up.type.strip_typedefs().code == gdb.TYPE_CODE_REF else up
    for f in up.type.strip_typedefs().fields():
        if f.name == m.group(3) and f.bitsize:
            return int(up.address) + f.bitpos // 8, (f.bitpos % 8 + f.bitsize + 7) // 8
    return None


def evaluate(name):
    try:
        v = gdb.parse_and_eval(name)
        if v.type.strip_typedefs().code == gdb.TYPE_CODE_REF:
            v = v.referenced_value()
            text = re.sub(r"^\([^()]*&\) @0x[0-9a-f]+: ", "", gdb.execute("output " + name, to_string=True))
        else:
            text = gdb.execute("output " + name, to_string=True)
        text = re.sub(r"^\([^()]*\*( const)?\) ", "", text)
        text = re.sub(r"\b(?:\w+::)+(?=\w+$)", "", text)         # enumerators are without what they are in
        field = bits(name)
        where = field[0] if field else int(v.address) if v.address is not None else None
        return where, field[1] if field else v.type.sizeof, text, field
    except (gdb.error, gdb.MemoryError) as e:
        # where libc says what a link map has may be a page that the program did not read
        return "unknown" if "Cannot find thread-local storage" in str(e) else None


def right(ref, part, name, value, got):
    if not got:
        return False
    where, size, text, field = got
    if ref == "-" or name[0] == "&":
        return text == value
    _, at = ref.split(":")
    addr, width = int(at.split("/")[0], 16), int(at.split("/")[1])
    if where is None:
        return False
    if field:                   # the bytes around are written as they were
        return where < addr + width and addr < where + size and (part or
            (addr <= where and where + size <= addr + width and text == value))
    if part:
        return where <= addr and addr + width <= where + size
    return where == addr and size == width and text == value


def goto(n, pc):
    """Goes to before instruction n, which is at pc, in the thread that executes it: it must be one that gdb knows."""
    selected = gdb.selected_thread()
    for t in [selected] + [t for t in gdb.selected_inferior().threads() if t.num != selected.num] + [None]:
        if t is None:
            if gdb.lookup_global_symbol("work") is None and gdb.lookup_static_symbol("work") is None:
                return False
            gdb.execute("monitor goto 1", to_string=True)
            gdb.execute("stepi", to_string=True)
            gdb.execute("tbreak work", to_string=True)
            gdb.execute("continue", to_string=True)
        elif t.is_valid():
            t.switch()
        else:
            continue
        gdb.execute("monitor goto " + n, to_string=True)
        gdb.execute("stepi", to_string=True)
        if int(gdb.parse_and_eval("(long)$pc")) == pc:
            return True
    return False


for line in open("list"):
    head, value = line.rstrip("\n").split("\t")
    n, pc, ref, part, name = head.split(" ", 4)
    if not goto(n, int(pc, 16)):
        print("another place:", line.rstrip())
        continue
    before = evaluate(name)
    gdb.execute("stepi", to_string=True)
    after = evaluate(name)
    if "unknown" in (before, after):
        print("unknown")
        continue
    # an instruction that loads and computes has its result in a register
    if right(ref, part == "1", name, value, after if ref[0] in "-wm" else before) or (
            after and after[0] is None and after[2] == value):
        print("right")
    else:
        print("wrong:", line.rstrip(), before, after)
