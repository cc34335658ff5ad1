# shellcheck shell=sh disable=SC2154
# programs.sh: the programs whose whole execution traces wetbench and wet/run make; sourced behind measure.sh.

# what they need; testdata/setup installs it
programs_need() {
	need gzip bzip2 xz sort perl sqlite3 lua5.4 mawk xmllint
}

# programs SIZE: their inputs come into this folder, and the file `list`: of each its name and its command, behind a tab.
# They are as Debian ships them, but for gauss and pdp (floating point, compiled here; pdp has few different values).  SIZE
# times 100 million statements are executed by each, or somewhat more.
programs() {
	size=$1
	k() { calc %.0f "$size * $1"; }
	$CC -O2 "$top/testdata/ae/prog/gauss.c" -o gauss -lm && $CC -O2 -std=gnu17 "$here/ae/pdp.c" -o pdp -lm || exit 1
	awk -v n="$(k 2)" '{ line[NR] = $0 } END { for (i = 1; i == 1 || i <= n; i++) for (k = 1; k <= NR; k++) { s = line[k]; gsub(/@/, i, s); print s } }' \
	    "$here/function.c" > functions.c
	"$here/text" "$(calc %g "1.5 * $size + 0.1")" > text
	for p in gzip:520000 bzip2:330000 xz:86000 sort:1250000 lua:190000 mawk:800000; do
		head -c "$(k "${p#*:}")" text > "text.${p%:*}"
	done
	cat > words.pl <<-'END'
		my (%h, @a);
		for my $i (1 .. $ARGV[0]) { my $k = "k" . ($i * 7919 % 10007); $h{$k} += $i; push @a, "$k-$i" if $i % 3 == 0 }
		my $s = 0;
		$s = ($s * 31 + $h{$_}) % 1000003 for sort keys %h;
		for (@a) { $s += $1 * $2 if /^k(\d+)-(\d+)5$/ }
		print "$s\n";
	END
	cat > words.lua <<-'END'
		local count, words = {}, {}
		for line in io.lines(arg[1]) do
			for w in line:gmatch("%a+") do
				w = w:lower()
				if not count[w] then count[w] = 0; words[#words + 1] = w end
				count[w] = count[w] + 1
			end
		end
		table.sort(words, function(a, b) return count[a] > count[b] or (count[a] == count[b] and a < b) end)
		for i = 1, 20 do print(words[i], count[words[i]]) end
	END
	cat > query <<-END
		create table t(a integer primary key, b text, c real);
		with recursive n(i) as (select 1 union all select i + 1 from n where i < $(k 10200))
			insert into t select i, 'name' || (i * 7919 % 10007), i * 0.5 from n;
		create index tb on t(b);
		select count(*), sum(c), max(b) from t where b like 'name1%';
		select b, count(*) from t group by b order by 2 desc, 1 limit 5;
	END
	head -c "$(k 240000)" text | mawk '
		BEGIN { print "<text>" }
		{
			gsub(/[^ -~]/, ""); gsub(/[&<>]/, ".")
			printf "<line n=\"%d\">", NR
			for (i = 1; i <= NF; i++) printf "<word>%s</word>", $i
			print "</line>"
		}
		END { print "</text>" }' > text.xml
	cat > count.awk <<-'AWK'
		{ for (i = 1; i <= NF; i++) n[$i]++ }
		END { for (w in n) if (n[w] > 50) print w, n[w] }
	AWK
	cat > list <<-END
		gzip	gzip -9nc text.gzip
		bzip2	bzip2 -9c text.bzip2
		xz	xz -6 -T1 -c text.xz
		sort	sort --parallel=1 text.sort
		perl	perl words.pl $(k 34000)
		lua	lua5.4 words.lua text.lua
		sqlite3	sqlite3 -init query :memory: .quit
		xmllint	xmllint --noout text.xml
		mawk	mawk -f count.awk text.mawk
		cc1	$($CC -print-prog-name=cc1) -quiet -fpreprocessed -O1 -o functions.s functions.c
		gauss	./gauss $(calc %.0f "338 * $size ^ (1 / 3)")
		pdp	./pdp 11 $(k 25)
	END
}
