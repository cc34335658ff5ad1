/* The main program of a regenerator.  It is in the library, so that it writes files as all tools do. */
#include "gen/aec/text.h"

const char text_main[] =
	"/* Made by aec: the references of a run, from its event file to standard output. */\n"
	"#include <ae.h>\n"
	"\n"
	"int\n"
	"main(int argc, char **argv)\n"
	"{\n"
	"\treturn ae_main(argc, argv);\n"
	"}\n";
