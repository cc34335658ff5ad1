# Value streams, as a library
exec "$BUILD/test/streamtest"
