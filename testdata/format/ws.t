# Captures, as a library
"$BUILD/test/wsx86test" || exit
"$BUILD/test/wstest" || exit
"$BUILD/test/wsrunstest" || exit
"$BUILD/test/wspagestest" || exit
# the fuzz target agrees about the first inputs
mkdir seeds && "$BUILD/test/wstest" seeds seeds && "$BUILD/test/wsrunstest" seeds seeds && "$BUILD/test/wspagestest" seeds seeds && "$BUILD/test/wsfuzz" seeds/*
