# Hash tables against plain searches
"$BUILD/test/hashtest"
