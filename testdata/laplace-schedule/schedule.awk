# What laplace-schedule -f text should print, slowly: awk -v dir=DIR -v P=1 -v Q=10 -v qi=0 -v G=5 -v gi=0 -v M=0 -v only=-1
# -v ev=task -f schedule.awk.  The traces are text with offsets.  Q references, or instructions if qi; G the same, of the
# grain; M: tasks migrate.
function hex(s,  i, v) {
	for (i = 1; i <= length(s); i++) v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
function text(v,  s, d) {
	do { d = v % 16; s = substr("0123456789abcdef", d + 1, 1) s; v = (v - d) / 16 } while (v)
	return s
}
# a task goes to the end of the queue q: that of a processor, or P, that of all, if tasks migrate
function put(t, q) { queue[q, tail[q]++] = t }
function arrive(t,  i, p) {
	p = 0
	if (!M) for (i = 1; i < P; i++) if (load[i] < load[p]) p = i
	begun[t] = 1; load[p]++; home[t] = p
	put(t, M ? P : p)
}
# the traces of tasks, and what they fork: who[trace] is its task
function load_all(  k, f, w, line, i, j, m, t, best) {
	while ((getline line < (dir "/manifest")) > 0) {
		split(line, w, " ")
		if (w[1] != "task") continue
		k = ++nt; path[k] = w[2]; pid[k] = w[3]; first[k] = hex(w[4]); last[k] = hex(w[5])
	}
	for (k = 1; k <= nt; k++) {
		f = dir "/" path[k]
		while ((getline line < f) > 0) {
			rec[k, ++nrec[k]] = line
			split(line, w, " ")
			if (w[1] == "F") { nf++; child[nf] = w[3]; ftime[nf] = hex(w[2]); fby[nf] = k }
			if (w[1] == "T" && w[3] == pid[k]) ended[k] = 1
		}
		close(f)
	}
	# the traces of a number, by time
	for (k = 1; k <= nt; k++) order[k] = k
	for (i = 2; i <= nt; i++) for (j = i; j > 1; j--) {
		if (first[order[j - 1]] <= first[order[j]]) break
		m = order[j]; order[j] = order[j - 1]; order[j - 1] = m
	}
	for (i = 1; i <= nt; i++) {
		k = order[i]; m = latest[pid[k]]; latest[pid[k]] = k
		if (m && !ended[m]) { who[k] = who[m]; seg[who[k], ++nseg[who[k]]] = k; continue }
		t = ++ntask; who[k] = t; seg[t, nseg[t] = 1] = k
		best = 0
		for (j = 1; j <= nf; j++)
			if (child[j] == pid[k] && ftime[j] <= first[k] && (!m || ftime[j] >= last[m]) && (!best || ftime[j] >= ftime[best])) best = j
		if (best) forks[fby[best], ftime[best], child[best]] = t
		else arrive(t)
	}
}
function fetch(w) { return (w[1] == "i") && !(lt[t] == w[2] && lp[t] + 1 == hex(w[4]) && hex(w[6]) == 0 && le[t] == 4096) }
# runs t on p: 1 if it can go on, 2 if its quantum is over
function run(t, p,  w, k, f, what, canon) {
	if (only < 0 || only == p) {
		what = ev == "task" ? pid[seg[t, 1]] : text(p)
		if (what != shown) print "task 0x" what
		shown = what
	}
	for (;;) {
		k = seg[t, at[t] + 1]
		if (pos[t] == nrec[k]) { pos[t] = 0; if (++at[t] == nseg[t]) return 0; continue }
		split(rec[k, pos[t] + 1], w, " ")
		if (w[1] !~ /^[rwi]$/) {
			pos[t]++
			if (w[1] == "F" && ((k, hex(w[2]), w[3]) in forks)) arrive(forks[k, hex(w[2]), w[3]])
			continue
		}
		f = fetch(w)
		if (!left[p] && (f || !qi)) return 2
		if (!turn && (f || !gi)) return 1
		left[p] -= qi ? f : 1
		turn -= gi ? f : 1
		pos[t]++
		if (w[1] == "i") { lt[t] = w[2]; lp[t] = hex(w[4]); le[t] = hex(w[6]) + hex(w[3]) } else lt[t] = ""
		canon = hex(w[5])
		if (only < 0 || only == p)
			print (w[1] == "i" ? "inst" : w[1] == "r" ? "load" : "store"), \
				"0x" text((canon - 4503599627370496) * 4096 + hex(w[6])), hex(w[3])
	}
}
BEGIN {
	load_all()
	do {
		busy = 0
		for (p = 0; p < P; p++) {
			turn = G
			while (turn > 0) {
				q = M && (head[P] < tail[P] || head[p] == tail[p]) ? P : p
				if (!now[p]) {
					if (head[q] == tail[q]) break
					now[p] = queue[q, head[q] + 0]; head[q]++
					left[p] = Q
				}
				busy = 1
				t = now[p]
				r = run(t, p)
				if (r == 0) { load[p]--; now[p] = 0; continue }
				if (r == 1) break
				put(t, p); now[p] = 0
			}
		}
		# what was replaced in this round may run anywhere in the next one
		if (M) for (p = 0; p < P; p++) for (; head[p] < tail[p]; head[p]++) put(queue[p, head[p] + 0], P)
	} while (busy)
}
