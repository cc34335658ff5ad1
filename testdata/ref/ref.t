# The reference stream and lackey logs, as a library
exec "$BUILD/test/reftest"
