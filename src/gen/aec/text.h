/* Constant text that aec writes. */
#ifndef TM_AEC_TEXT_H
#define TM_AEC_TEXT_H

extern const char text_main[];  /* ae_main.c of every regenerator */

#endif
