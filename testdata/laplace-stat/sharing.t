# Sharing of pages, against counts that awk makes of the same traces; what is no folder of laplace-merge
. "$SRC/testdata/tap.sh"
${CC:-gcc} -O1 "$SRC/experiments/laplacegen.c" -o gen || fail "laplacegen compiles"
n=200000
./gen $n kernel >kernel && ./gen $n classic >refs

# what the text should be, from the references of all tasks: TASK TYPE PAGE
oracle() {
	awk '
	function row(a, b, c) { printf "%-24s %14d %20d\n", a, b, c }
	!(($1, $3) in seen) { seen[$1, $3]; touch[$3]++; who[$3] = who[$3] " " $1; pages[$1]++ }
	{ refs[$3]++; of[$1]++ }
	$2 ~ /[wW]/ { written[$3] }
	END {
		while ((getline line <"tasks") > 0) name[++k] = line
		for (p in refs) {
			c = touch[p] == 1 ? "private" : p in written ? "write-shared" : "read-shared"
			np[c]++; nr[c] += refs[p]; tp[touch[p]]++; tr[touch[p]] += refs[p]
			m = split(who[p], w, " ")
			if (m == 1) own[w[1]]++
			for (i = 1; i <= m; i++) for (j = 1; j <= m; j++) both[w[i], w[j]]++
		}
		printf "%-24s %14s %20s\n", "pages", "pages", "references"
		row("private", np["private"], nr["private"])
		row("read-shared", np["read-shared"], nr["read-shared"])
		row("write-shared", np["write-shared"], nr["write-shared"])
		printf "\n%-24s %14s %20s\n", "tasks that touch a page", "pages", "references"
		for (i = 1; i <= k; i++) if (tp[i]) row(i, tp[i], tr[i])
		printf "\n%-24s %14s %20s %14s %14s\n", "task", "pages", "references", "private", "shared"
		for (i = 1; i <= k; i++) {
			t = name[i]
			printf "%-24s %14d %20d %14d %14d\n", t, pages[t], of[t], own[t], pages[t] - own[t]
		}
		if (k > 16) k = 16
		printf "\n%-24s", "pages in common"
		for (i = 1; i <= k; i++) printf " %14s", name[i]
		for (i = 1; i <= k; i++) {
			printf "\n%-24s", name[i]
			for (j = 1; j <= k; j++) printf " %14d", both[name[i], name[j]]
		}
		print ""
	}' touches
}
# touches DIR: makes the files touches, and tasks: their names, the most references first
touches() {
	(cd "$1" && for f in p*/t* kernel; do
		[ -f "$f" ] || continue
		case $2 in packed) laplace-text "$f" ;; *) cat "$f" ;; esac | awk -v f="$f" '/^[rwiRWI] / { print f, $1, $5 }'
	done) >touches
	awk '/^task / || /^kernel / { print $2 }' "$1/manifest" | awk '
		BEGIN { while ((getline <"touches") > 0) n[$1]++ }
		{ print n[$1] + 0, NR, $1 }' | sort -k1,1nr -k2,2n | cut -d ' ' -f 3 >tasks
}

for form in text packed; do
	o=
	[ $form = packed ] && o=-b
	# shellcheck disable=SC2086
	laplace-merge $o -o $form refs kernel
	touches $form $form
	oracle >want
	laplace-stat $form >got
	is "$form: status" $? 0
	same "$form: as awk counts" got want
done
is "there are tasks" "$(awk 'END { print (NR > 16) }' tasks)" 1
# the generated system copies a page before a second process writes to it: what is written and shared is in the small trace below
is "private pages, and some that are shared" "$(awk '/^(private|read-shared)/ && $2 > 0' got | wc -l | tr -d ' ')" 2
laplace-stat text/ | cmp -s - want && pass "the folder with a slash" || fail "the folder with a slash"
laplace-stat -o file text
same "to a file" file want

# a page that two tasks only read, one that is written, and one of each
mkdir -p small/p1 small/p2
printf '%s\n' 'r 1 4 10 a' 'i 2 4 11 b' 'w 3 4 12 c' >small/p1/t1
printf '%s\n' 'r 1 4 20 a' 'w 2 4 21 b' 'r 2 4 21 b' 'S 3 2' 'r 3 4 22 d' >small/p2/t2
cat >small/manifest <<'END'
laplace-merge 1 text
process p1 1 3
task p1/t1 1 1 3 3 0
process p2 1 3
task p2/t2 2 1 3 4 1
program p2 2 1 a name
end
END
laplace-stat small >got
touches small text
oracle >want
same "three classes" got want
is "each has its pages" "$(awk '/^(private|read-shared|write-shared)/ { print $2, $3 }' got | tr '\n' ';')" "2 2;1 2;1 3;"
laplace-stat --json small | tr -d ' \n' >got
is "as JSON" "$(cat got)" '{"private":{"pages":2,"references":2},"read-shared":{"pages":1,"references":2},"write-shared":{"pages":1,"references":3},"by_tasks":[{"tasks":1,"pages":2,"references":2},{"tasks":2,"pages":2,"references":5}],"tasks":[{"task":"p2/t2","private":1,"in_common":[3,2],"pages":3,"references":4},{"task":"p1/t1","private":1,"in_common":[2,3],"pages":3,"references":3}]}'

# names and numbers of a stranger
bad() { # WHAT SED-EXPRESSION ERROR
	rm -rf bad
	cp -R small bad
	sed "$2" small/manifest >bad/manifest
	gives "$1" 1 "laplace-stat: $3" laplace-stat bad
	is "$1: prints nothing" "$(wc -c <tap.out | tr -d ' ')" 0
}
bad "a name that leads elsewhere" 's,p1/t1,p1/../../small/p1/t1,' "bad/manifest: byte 36: not a line of a manifest"
bad "a name from the root" 's,task p1/t1,task /dev/zero,' "bad/manifest: byte 36: not a line of a manifest"
bad "a field too few" 's, 3 0$,,' "bad/manifest: byte 36: not a line of a manifest"
bad "a number that is none" 's, 3 0$, 3x 0,' "bad/manifest: byte 36: not a line of a manifest"
bad "another number of references" 's, 3 0$, 5 0,' "bad/p1/t1: 3 references, where the manifest has 5"
bad "another version" 's,^laplace-merge 1,laplace-merge 2,' "bad/manifest: byte 0: not a line of a manifest"
bad "no end" '/^end/d' "bad/manifest: byte 115: the manifest is cut off"
bad "a file that is not there" 's,p1/t1,p1/t5,' "bad/p1/t5: No such file or directory"
cp -R small link
rm link/p1/t1
ln -s ../../small/p1/t1 link/p1/t1
gives "a link" 1 "laplace-stat: link/p1/t1: not a regular file" laplace-stat link
rm -r link/p1
ln -s ../small/p1 link/p1
gives "a folder that is a link" 1 "laplace-stat: link/p1: not a folder" laplace-stat link
echo 'r 4 4 10' >>small/p1/t1
laplace-stat small >out 2>err
is "a damaged trace" "$? $(wc -c <out | tr -d ' ') $(cut -d ' ' -f 1-4 err)" "1 0 laplace-stat: small/p1/t1: byte 33"
gives "no folder" 1 "laplace-stat: none/manifest: No such file or directory" laplace-stat none
tap_end
