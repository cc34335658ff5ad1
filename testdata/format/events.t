# Event files, as a library
exec "$BUILD/test/eventstest"
