/* Binary search. */
#ifndef TM_BASE_SEARCH_H
#define TM_BASE_SEARCH_H

#include <stddef.h>

/*
 * Sets i to the first of 0 .. n - 1 for which `below`, an expression of i, is false; to n if there
 * is none. The expression must be true up to some i and false from there on; it is evaluated only
 * for i < n. For elements in ascending order of a key, `v[i].key < k` finds the first that is not
 * below k, and `v[i].key <= k` the first above it.
 */
#define LOWER_BOUND(i, n, below) \
	do { \
		size_t lo_ = 0, hi_ = (n); \
		while (lo_ < hi_) { \
			(i) = lo_ + (hi_ - lo_) / 2; \
			if (below) \
				lo_ = (i) + 1; \
			else \
				hi_ = (i); \
		} \
		(i) = lo_; \
	} while (0)

#endif
