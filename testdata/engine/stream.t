# Value streams, as a library
"$BUILD/test/streamtest" && "$BUILD/test/streambad" || exit
# the fuzz target agrees about the first inputs
mkdir seeds && "$BUILD/test/streamtest" seeds seeds && "$BUILD/test/biffuzz" seeds/*
