/* State and functions shared by the files of ae2addr */
#ifndef TM_CONVERT_AE2ADDR_AE2ADDR_H
#define TM_CONVERT_AE2ADDR_AE2ADDR_H

#include "ae/regen/libs.h"
#include "ae/regen/regen.h"
#include "base/out.h"
#include "format/ae/exe.h"

/*
 * Prints the bytes of the event file by where they were recorded; file_bytes: those of the files that were read; base:
 * what addresses are more than those of the executable; libs: the run's
 */
void sites_print(struct out *o, const struct regen *r, struct exe *x, uint64_t base, const struct libs *libs,
    uint64_t file_bytes);

#endif
