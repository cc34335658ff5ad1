# The order of the rooms, from the compiler's dependency files: each uses those before it only; src/README has the list.
# A header named *_internal.h is used in its own folder only.
. "$SRC/testdata/tap.sh"
cd "$BUILD" || exit 1

# objects of the runtime are in rt/MACHINE
find obj/src rt -name '*.d' | sort | while read -r d; do
	s=${d#obj/}
	case $s in rt/*) s=${s#rt/*/} ;; esac
	s=$SRC/$s
	if [ -f "${s%.d}.c" ] || [ -f "${s%.d}.S" ]; then echo "$d"; fi
done >"$TMPDIR/list"
[ -s "$TMPDIR/list" ] && pass "there are dependency files" || fail "there are dependency files"
# every include once: "source header"; the first rule of each file is "object: source headers..."
xargs cat <"$TMPDIR/list" | awk '
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
			else if (w[i] ~ /^src\//) print source, w[i]
		}
		inrule = more
	}' | sort -u >"$TMPDIR/uses"
ok "and they name headers" test -s "$TMPDIR/uses"

awk '
	BEGIN {
		n = split("base isa format cfg codec ae replay refs insns laplace sim wet lib", room, " ")
		for (i = 1; i <= n; i++) rank[room[i]] = i
		# what stands beside each other does not meet
		apart["replay ae"] = apart["laplace ae"] = apart["laplace replay"] = apart["sim ae"] = apart["sim replay"] = apart["sim laplace"] = apart["sim refs"] = apart["laplace refs"] = apart["wet refs"] = apart["codec cfg"] = 1
		split("gen convert compress merge apps", tool, " ")
		for (i in tool) tools[tool[i]] = 1
	}
	function runtime(path) { return path ~ /^src\/ae\/runtime\// }
	function folder(path,  p) { split(path, p, "/"); return p[2] }
	{
		a = folder($1); b = folder($2)
		# the runtime runs inside traced programs: it stands alone
		if (runtime($1) || runtime($2)) { if (runtime($1) != runtime($2)) print $1 " uses " $2; next }
		if (a == b) next
		if (a in tools ? !(b in tools) : (b in rank) && rank[b] < rank[a] && !((a " " b) in apart)) next
		print $1 " uses " $2
	}' "$TMPDIR/uses" >"$TMPDIR/bad"
is "no room uses a later one or its neighbour" "$(cat "$TMPDIR/bad")" ""

# by the sources, as dependency files also have what a header includes
(cd "$SRC" && grep -rn '^ *# *include "' src) | awk -F'[:"]' '
	{
		dir = $1; sub(/\/[^\/]*$/, "", dir)
		if ($4 !~ /\//) { if ($4 !~ /^(machine|sys)\.h$|^(machines|tools|syncs)\.def$/) print $1 ": " $4 " is not written from src on"; next }
		to = "src/" $4; sub(/\/[^\/]*$/, "", to)
		if ($4 ~ /_internal\.h$/ && dir != to) print $1 ": " $4 " is internal to " to
	}' >"$TMPDIR/bad"
is "internal headers stay in their folders" "$(cat "$TMPDIR/bad")" ""

# The library never prints and never exits, base apart.  (The x* allocators and in_open do when memory runs out: rooms behind format may use them.)
find obj/src -name '*.o' 2>/dev/null | grep -E '^obj/src/(isa|format|cfg|codec|ae|replay|refs|laplace|sim|wet|lib)/' | sort | xargs nm -A -u | awk '
	{ o = $1; sub(/:$/, "", o) }
	$3 ~ /^(printf|fprintf|vprintf|vfprintf|puts|putchar|fputs|fputc|putc|fwrite|perror|exit|_exit|abort|stdout|stderr|__(v?f?)printf_chk)$/ ||
	$3 ~ /^(die|die_at|die_sys|die_usage|warn|warn_at|warn_sys|out_.*)$/ ||
	(o ~ /src\/format\// && $3 ~ /^(x(m|c|re)alloc|xreallocarray|xstrn?dup|xasprintf|xgrow|in_open)$/) { print o " uses " $3 }' >"$TMPDIR/bad"
is "the library does not print or exit" "$(cat "$TMPDIR/bad")" ""

# an object without a source is from an older tree: worth knowing, no fault
find obj/src rt -name '*.o' | sort | while read -r o; do
	s=${o#obj/}
	case $s in rt/*/sync/*) continue ;; rt/*) s=${s#rt/*/} ;; esac      # all of sync.S
	s=$SRC/${s%.o}
	[ -f "$s.c" ] || [ -f "$s.S" ] || echo "$o"
done >"$TMPDIR/stale"
if [ -s "$TMPDIR/stale" ]; then echo "# objects without a source (make clean): $(tr '\n' ' ' <"$TMPDIR/stale")"; fi
tap_end
