/* Messages about faults in events, the same for both kinds of regeneration. */
#ifndef TM_AE_REGEN_MSG_H
#define TM_AE_REGEN_MSG_H

#define msg_branch     "neither 0 nor 1 for a branch"
#define msg_target     "the number of no block that control may go to here"
#define msg_mark       "the number of another block than control comes to"
#define msg_deep       "calls too deep"
#define msg_nofunc     "a function that the program does not have"
#define msg_library    "a function of a shared library that the regenerator was made without"
#define msg_norsp      "a function is entered without a stack pointer"
#define msg_noentry    "a stack pointer without a function to enter"
#define msg_rootreturn "a return from nowhere"
#define msg_jreturn    "setjmp returns as other functions do"
#define msg_noframe    "no frame to unwind to"
#define msg_noimage    "a constant outside the executable's read-only data"
#define msg_noswitch   "a switch without such a target"
#define msg_never      "a function returns that cannot"
#define msg_quiet      "too many references without an event: an endless loop?"
#define msg_stopped    "recording stopped here, before the run ended"
#define msg_limited    "recording ended here by AE_LIMIT, before the run did"
#define msg_lost       "the last events of a thread that ended in traced code are missing"
#define msg_noorder    "recorded without the order in which threads waited for each other, by an earlier version"
#define msg_backwards  "the order of synchronisation goes back"
#define msg_running \
	"threads were running traced code when the process ended: their last references may be past that place"
#define msg_fatal \
	"signal %u ended the program in traced code: the last references may be past that place"
#define msg_at \
	"signal %u ended the program in traced code, at the instruction after the last reference"
#define msg_short      "a short value not in its shortest form"
#define msg_rep        "a string instruction that goes back"

#endif
