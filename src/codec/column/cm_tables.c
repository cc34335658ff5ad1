/* Context mixing: tables of constants. */
#include "codec/column/cm_numbers.h"

#include <pthread.h>

int16_t cm_stretch_tab[4096];
uint16_t cm_squash_tab[4096];
uint16_t cm_rate_tab[1024];
uint8_t cm_history_tab[2][256];
_Alignas(16) uint8_t cm_path_tab[32][2][16];

/* 65536 / (1 + exp(-d / 256)) at d = -2048, -1984, ... 2048; linear between them. */
static const uint16_t sigmoid[65] = {
	22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267,
	342, 439, 562, 720, 922, 1179, 1506, 1921, 2446, 3108, 3938,
	4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
	36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598,
	62428, 63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269,
	65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508, 65514,
};

static void
cm_fill(void)
{
	int d = -CM_ST;

	for (unsigned i = 0; i < 4096; i++) {
		unsigned a = sigmoid[i >> 6], b = sigmoid[(i >> 6) + 1], f = i & 63;

		cm_squash_tab[i] = (uint16_t)((a * (64 - f) + b * f + 32) >> 6);
	}
	/* the inverse: the least d whose probability reaches the middle of the 16 */
	for (unsigned i = 0; i < 4096; i++) {
		while (d < CM_ST && cm_squash_tab[d + 2048] < i * 16 + 8)
			d++;
		cm_stretch_tab[i] = (int16_t)d;
	}
	for (unsigned h = 0; h < 512; h++)
		cm_history_tab[h >> 8][h & 255] = (uint8_t)(h << 1 | h >> 8 | (h & 128));
	for (unsigned bits = 2; bits < 32; bits++)
		for (unsigned at = bits; at > 1; at >>= 1) {
			cm_path_tab[bits][0][at / 2] = 255;
			cm_path_tab[bits][1][at / 2] = at & 1;
		}
	for (unsigned i = 0; i < 1024; i++)
		cm_rate_tab[i] = (uint16_t)(655360 / (10 * i + 16));
}

void
cm_num_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, cm_fill);
}
