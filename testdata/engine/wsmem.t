# Memory of a replayed program
"$BUILD/test/wsmemtest"
