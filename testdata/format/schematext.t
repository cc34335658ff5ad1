# The readable schema, as a library
exec "$BUILD/test/schematexttest"
