/*
 * pdp: the interactive activation model of word perception (McClelland and Rumelhart 1981): features excite letters,
 * letters excite words, words excite their letters, units of a kind inhibit each other.
 *
 *   pdp [cycles [presentations]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSITIONS 4
#define LETTERS 26
#define FEATURES 14

static const char *const font[LETTERS] = {      /* which of the 14 strokes a letter has */
	"11111010100000", "00101110001010", "11011000000000", "00101110000010", "11011010000000", "11001010000000",
	"11011000100000", "01101010100000", "10011000000101", "00111000100000", "01001010010100", "01011000000000",
	"01101000010001", "01101000010010", "11111000100000", "11101010100000", "11111000100010", "11101010100010",
	"11010010100000", "10000000000101", "01111000100000", "01001000001100", "01111000001010", "00000000011110",
	"00000000010101", "10010000001100",
};

static const char lexicon[] =
	"able acid aged also area army away baby back ball band bank base bath bear beat been beer bell belt best bill bird blow blue boat "
	"body bone book boot bore both bowl bulk burn bush busy call calm came camp card care cart case cash cast cave cell chat chip city "
	"clay club coal coat code coin cold come cook cool cope copy core corn cost crew crop dark data date dawn days dead deal dear debt "
	"deck deep deny desk dial diet dirt disc dish does done door dose down draw drew drop drug dual duke dust duty each earn ease east "
	"easy edge else even ever evil exit face fact fail fair fall fame farm fast fate fear feed feel feet fell felt file fill film find "
	"fine fire firm fish five flat flow fold folk food foot ford form fort four free from fuel full fund gain game gate gave gear gift "
	"girl give glad goal goat goes gold golf gone good gray grew grey grow gulf hair half hall hand hang hard harm hate have head hear "
	"heat held hell help here hero high hill hire hold hole holy home hope host hour huge hung hunt hurt idea inch into iron item join "
	"jump jury just keen keep kept kick kill kind king knee knew know lack lady laid lake land lane last late lead left less life lift "
	"like line link list live load loan lock long look lord lose loss lost love luck made mail main make male many mark mass meal mean "
	"meat meet menu mere mile milk mill mind mine miss mode mood moon more most move much must name navy near neck need news next nice "
	"nine none nose note okay once only onto open oral over pace pack page paid pain pair palm park part pass past path peak pick pink "
	"pipe plan play plot plug plus poll pool poor port post pull pure push race rail rain rank rare rate read real rear rely rent rest "
	"rice rich ride ring rise risk road rock role roll roof room root rose rule rush safe said sake sale salt same sand save seat seed ";

struct link { int from; float weight; };
struct unit { float act, net, rest; int nlink; struct link *link; };

/* one array of units: letters by position, then words; features are external */
static struct unit *unit;
static float *feature;
static int nword, nletter = POSITIONS * LETTERS, nunit;

static const float alpha_fl = 0.005f, gamma_fl = 0.15f, alpha_lw = 0.07f, gamma_lw = 0.04f, alpha_wl = 0.30f,
    gamma_ww = 0.21f, decay = 0.07f, floor_ = -0.2f, ceiling = 1.0f;

static const char *word(int w) { return lexicon + 5 * w; }
static float excite(const struct unit *u) { return u->act > 0 ? u->act : 0; }

static void
connect(int to, int from, float weight)
{
	struct unit *u = &unit[to];

	u->link[u->nlink].from = from;
	u->link[u->nlink++].weight = weight;
}

static int
build(void)
{
	nword = (int)(sizeof lexicon - 1) / 5;
	nunit = nletter + nword;
	unit = calloc((size_t)nunit, sizeof *unit);
	feature = calloc(POSITIONS * FEATURES * 2, sizeof *feature);
	if (!unit || !feature)
		return -1;
	for (int i = 0; i < nunit; i++) {
		unit[i].link = malloc((size_t)nunit * sizeof *unit[i].link);
		if (!unit[i].link)
			return -1;
		unit[i].act = unit[i].rest = i < nletter ? 0 : -0.05f * (float)((i * 7919) % 100) / 100;
	}
	for (int w = 0; w < nword; w++)
		for (int p = 0; p < POSITIONS; p++)
			for (int c = 0; c < LETTERS; c++) {
				int match = word(w)[p] == 'a' + c;

				connect(nletter + w, p * LETTERS + c, match ? alpha_lw : -gamma_lw);
				if (match)
					connect(p * LETTERS + c, nletter + w, alpha_wl);
			}
	return 0;
}

/* Some strokes of a letter may be hidden: they are neither present nor absent */
static void
present(const char *s, unsigned hidden)
{
	for (int p = 0; p < POSITIONS; p++)
		for (int f = 0; f < FEATURES; f++) {
			int on = font[s[p] - 'a'][f] == '1', seen = !(p == 3 && hidden >> f & 1);

			feature[(p * FEATURES + f) * 2] = (float)(seen && on);
			feature[(p * FEATURES + f) * 2 + 1] = (float)(seen && !on);
		}
	for (int i = 0; i < nunit; i++)
		unit[i].act = unit[i].rest;
}

static void
letter_input(void)
{
	for (int p = 0; p < POSITIONS; p++)
		for (int c = 0; c < LETTERS; c++) {
			float net = 0;

			for (int f = 0; f < FEATURES; f++) {
				const float *in = &feature[(p * FEATURES + f) * 2];
				int on = font[c][f] == '1';

				if (in[0] > 0)
					net += on ? alpha_fl : -gamma_fl;
				if (in[1] > 0)
					net += on ? -gamma_fl : alpha_fl;
			}
			unit[p * LETTERS + c].net = net;
		}
}

static float
gather(const struct unit *u)
{
	float net = 0;

	for (int i = 0; i < u->nlink; i++) {
		float a = unit[u->link[i].from].act;

		if (a > 0)
			net += a * u->link[i].weight;
	}
	return net;
}

static void
cycle(void)
{
	float words = 0;

	letter_input();
	for (int i = 0; i < nletter; i++)
		unit[i].net += gather(&unit[i]);
	for (int i = nletter; i < nunit; i++) {
		unit[i].net = gather(&unit[i]);
		words += excite(&unit[i]);
	}
	for (int i = nletter; i < nunit; i++)
		unit[i].net -= gamma_ww * (words - excite(&unit[i]));
	for (int i = 0; i < nunit; i++) {
		struct unit *u = &unit[i];
		float d = u->net > 0 ? u->net * (ceiling - u->act) : u->net * (u->act - floor_);

		u->act += d - decay * (u->act - u->rest);
		if (u->act > ceiling)
			u->act = ceiling;
		if (u->act < floor_)
			u->act = floor_;
	}
}

static int
strongest(int from, int n)
{
	int best = from;

	for (int i = from; i < from + n; i++)
		if (unit[i].act > unit[best].act)
			best = i;
	return best - from;
}

int
main(int argc, char **argv)
{
	int cycles = argc > 1 ? atoi(argv[1]) : 10, n = argc > 2 ? atoi(argv[2]) : 2, right = 0;
	unsigned sum = 0;

	if (build() != 0)
		return 1;
	for (int k = 0; k < n; k++) {
		int w = (k * 131 + 7) % nword, got;

		present(word(w), k % 3 ? 0x1a50u << k % 4 : 0);
		for (int c = 0; c < cycles; c++)
			cycle();
		got = strongest(nletter, nword);
		right += got == w;
		for (int p = 0; p < POSITIONS; p++)
			sum = sum * 31 + (unsigned)strongest(p * LETTERS, LETTERS);
		sum = sum * 31 + (unsigned)got;
	}
	printf("%d words, %d presented, %d recognised, %08x\n", nword, n, right, sum);
	return 0;
}
