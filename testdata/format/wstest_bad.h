static void bad_files(void) {}
static void bad_records(void) {}
static void bounds(void) {}
static void example(void) {}
