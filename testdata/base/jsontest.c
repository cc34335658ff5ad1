/* JSON with every kind of value, and strings that need quoting.  base/json.t compares it. */
#include <math.h>

#include "base/diag.h"
#include "base/json.h"

int
main(int argc, char **argv)
{
	struct json j;
	struct out *o;

	(void)argc;
	diag_init(argv[0], 1);
	o = out_open(NULL);
	json_begin(&j, o);
	json_object(&j, "nothing");
	json_end(&j);
	json_array(&j, "numbers");
	json_u64(&j, NULL, UINT64_MAX);
	json_number(&j, NULL, 0.1);
	json_number(&j, NULL, 1.0 / 3);
	json_number(&j, NULL, -1e300);
	json_number(&j, NULL, (double)NAN);
	json_number(&j, NULL, (double)INFINITY);
	json_end(&j);
	json_object(&j, "strings");
	json_string(&j, "\"\\\n\1", "tab\t, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x98\x80");
	json_string(&j, "wrong", "\xff \xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82");
	json_string(&j, "none", NULL);
	json_array(&j, "inner");
	json_array(&j, NULL);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	out_close(o);
	return 0;
}
