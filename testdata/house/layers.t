# The layer rule, from the compiler's dependency files: base < format < engine < the tool folders, which never meet
. "$SRC/testdata/tap.sh"
cd "$BUILD" || exit 1

# objects of the runtime are in rt/MACHINE
find obj rt -name '*.d' | sort | while read -r d; do
	s=${d#obj/}
	case $s in rt/*) s=${s#rt/*/} ;; esac
	s=$SRC/$s
	if [ -f "${s%.d}.c" ] || [ -f "${s%.d}.S" ]; then echo "$d"; fi
done >"$TMPDIR/list"
[ -s "$TMPDIR/list" ] && pass "there are dependency files" || fail "there are dependency files"
# the first rule of each file: object: source headers...
xargs cat <"$TMPDIR/list" | awk '
	BEGIN {
		allowed["base"] = "base"
		allowed["format"] = "base format"
		allowed["engine"] = "base format engine"
		n = split("gen convert compress merge apps", f, " ")
		for (i = 1; i <= n; i++) allowed[f[i]] = "base format engine " f[i]
	}
	function runtime(path) { return path ~ /^src\/(gen|engine\/[a-z0-9]*)\/aert\// }
	function folder(path,  p) { split(path, p, "/"); return p[2] }
	function use(path) {
		if (path !~ /^src\//) return
		# the runtime runs inside traced programs: it stands alone
		if (runtime(source) != runtime(path)) { print source " uses " path; return }
		if (runtime(source)) return
		if (!index(" " allowed[folder(source)] " ", " " folder(path) " ")) print source " uses " path
	}
	{
		more = sub(/ *\\$/, "")
		n = split($0, w, " ")
		if (!inrule) {
			first = 1
			if (n < 2) next                 # "header.h:" of -MP
		}
		for (i = 1; i <= n; i++) {
			if (w[i] ~ /:$/) continue
			if (first) { source = w[i]; first = 0 }
			use(w[i])
		}
		inrule = more
	}' >"$TMPDIR/bad"
is "no layer uses a higher one or its neighbour" "$(cat "$TMPDIR/bad")" ""

# format and engine never print and never exit.  (The x* allocators and in_open do when memory runs out: engine may use them.)
for o in $(find obj/src/format obj/src/engine -name '*.o' 2>/dev/null | sort); do
	nm -u "$o" | awk -v o="$o" '
		$2 ~ /^(printf|fprintf|vprintf|vfprintf|puts|putchar|fputs|fputc|putc|fwrite|perror|exit|_exit|abort|stdout|stderr|__(v?f?)printf_chk)$/ ||
		$2 ~ /^(die|die_at|die_sys|die_usage|warn|warn_at|warn_sys|out_.*)$/ ||
		(o ~ /format/ && $2 ~ /^(x(m|c|re)alloc|xreallocarray|xstrn?dup|xasprintf|xgrow|in_open)$/) { print o " uses " $2 }'
done >"$TMPDIR/bad"
is "format and engine do not print or exit" "$(cat "$TMPDIR/bad")" ""

# an object without a source is from an older tree: worth knowing, no fault
for o in $(find obj rt -name '*.o' | sort); do
	s=${o#obj/}
	case $s in rt/*) s=${s#rt/*/} ;; esac
	s=$SRC/${s%.o}
	[ -f "$s.c" ] || [ -f "$s.S" ] || echo "$o"
done >"$TMPDIR/stale"
if [ -s "$TMPDIR/stale" ]; then echo "# objects without a source (make clean): $(tr '\n' ' ' <"$TMPDIR/stale")"; fi
tap_end
