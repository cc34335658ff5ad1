# Programs as they are installed: replay to their end, and what they wrote comes out again
. "$SRC/testdata/tap.sh"
. "$HERE/lib.sh"
why=$(able) || { skip "$why"; exit 0; }

# program NAME COMMAND...: its output, twice
program() {
	name=$1
	shift
	command -v "$1" >/dev/null || { skip "no $1"; return; }
	"$@" >real.out 2>/dev/null </dev/null
	real=$?
	wscap -o "$name.ws" "$@" >cap.out 2>cap.err </dev/null
	is "$name: status" $? $real
	same "$name: output" real.out cap.out
	ws2addr -w 1 "$name.ws" >again.out 2>again.err
	is "$name: replays to its end" "$?$(cat again.err)" 0
	same "$name: output of the replay" real.out again.out
}

awk 'BEGIN { for (i = 0; i < 6000; i++) printf "%d line %d of words %x\n", i * 7919 % 10007, i, i * 31 }' >in
program gzip gzip -9nc in
program sort sort in
program sort-n sort -n --parallel=1 in
# shellcheck disable=SC2016
program perl perl -e 'my %h; $h{$_ % 97} += $_ for 1 .. 2000; print "$_ $h{$_}\n" for sort { $a <=> $b } keys %h; print join(",", map { sprintf "%.3f", sqrt } 1 .. 50), "\n"'
program sqlite3 sqlite3 :memory: 'create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into t select i, i * 7 % 13 from n; select b, count(*), sum(a) from t group by b;'
# shellcheck disable=SC2016
program awk awk '{ n[length($0)]++ } END { for (i = 0; i < 99; i++) if (n[i]) print i, n[i] }' in
# what is in PATH may be a script that looks for it
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
program python3 "${python:-python3}" -I -c 'import json; print(json.dumps({"a": [i * i for i in range(300)]}))'
program sed sed -n 's/line \([0-9]*\)/<\1>/p' in
program grep grep -c 'words.*f$' in
program ls ls -la /usr/lib
program sh sh -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); echo $i; done'

if command -v g++ >/dev/null; then
	cat >x.cc <<'P'
#include <algorithm>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
static int risky(int i) { if (i % 3 == 0) throw std::runtime_error("three"); return i; }
int main()
{
	std::map<std::string, std::vector<double>> m;
	int caught = 0;
	for (int i = 0; i < 500; i++) {
		m["k" + std::to_string(i % 37)].push_back(i * 0.25);
		try { risky(i); } catch (const std::exception &e) { caught += e.what()[0] == 't'; }
	}
	for (auto &p : m) {
		std::sort(p.second.rbegin(), p.second.rend());
		std::cout << p.first << ' ' << p.second.front() << '\n';
	}
	std::cout << caught << std::endl;
}
P
	g++ -O2 x.cc -o cxx && program c++ ./cxx
else
	skip "no g++"
fi
tap_end
