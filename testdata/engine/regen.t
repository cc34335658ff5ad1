# The interpreter of schemas, on programs made by hand
exec "$BUILD/test/regentest"
