# Schema units, as a library
exec "$BUILD/test/schematest"
