# Random references as lackey writes them: loops of instructions, streams with strides, places that are used often
BEGIN {
	srand(seed)
	for (i = 0; i < 400; i++) { stride[i] = int(rand() * 9) * 24 - 40; at[i] = 200000 + int(rand() * 40000) }
	pc = 65536
	for (n = 0; n < count; n++) {
		if (rand() < 0.08) pc = 65536 + int(rand() * rand() * 12000)
		k = 1 + int(rand() * 7)
		printf "I  %08x,%d\n", pc, k
		s = pc % 400
		pc += k
		if (rand() < 0.5) continue
		r = rand()
		if (r < 0.4) a = at[s] += stride[s]
		else if (r < 0.8) a = 300000 + int(rand() * rand() * rand() * 30000)
		else a = 400000 + int(rand() * 200000)
		if (a < 4096) a = at[s] = 250000
		c = rand()
		printf " %s %08x,%d\n", c < 0.6 ? "L" : c < 0.9 ? "S" : "M", a, 2 ^ int(rand() * 6)
	}
}
