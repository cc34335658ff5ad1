# Bidirectional compressors against plain ones, state by state
"$BUILD/test/biditest"
