# Prefixes that change what an instruction refers to
"$BUILD/test/lifttest"
