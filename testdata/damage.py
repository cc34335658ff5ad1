"""damage.py [-0a] [-b BYTE,...] [-o OFFSET] [-s STEP] FILE DAMAGED WHOLE COMMAND...: a file that is cut off, or (-b) has other bytes.

DAMAGED is FILE up to a place, or with one BYTE (hexadecimal) there, for every STEPth place from OFFSET on, and COMMAND reads it.
It is to end with status 1 and one line of diagnostics, and its output is to be a beginning of the file WHOLE (-: any output).
With -0 it may also end with status 0 and no diagnostics, with -a also if its output is another one.  Prints the places, with the
status, where it is otherwise.
One process for each place: a shell needs five."""

import getopt
import subprocess
import sys

options, (file, damaged, whole, *command) = getopt.getopt(sys.argv[1:], "0ab:o:s:")
options = dict(options)
data = open(file, "rb").read()
whole = None if whole == "-" else open(whole, "rb").read()
kinds = [bytes.fromhex(b) for b in options["-b"].split(",")] if "-b" in options else [None]
for i in range(int(options.get("-o", 0)), len(data), int(options.get("-s", 1))):
    for byte in kinds:
        if byte == data[i:i + 1]:
            continue
        with open(damaged, "wb") as f:
            f.write(data[:i] if byte is None else data[:i] + byte + data[i + 1:])
        p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        begins = whole is None or whole.startswith(p.stdout)
        if p.returncode == 0:
            good = not p.stderr and ("-a" in options or "-0" in options and begins)
        else:
            good = p.returncode == 1 and p.stderr.count(b"\n") == 1 and begins
        if not good:
            print(f" {i}:{p.returncode}", end="")
