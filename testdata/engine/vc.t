# Coding of blocks of values: every method there and back, damaged bytes
"$BUILD/test/vctest"
