# What cachesim --json says, as cachemodel prints it
function value() { sub(/,$/, ""); return $NF }
$1 == "\"name\":" { s = tolower(value()); gsub(/"/, "", s); kind = "" }
/"(fetches|loads|stores|prefetches)": {/ { kind = $1; gsub(/[":]/, "", kind); s = s " " kind; next }
kind != "" && /"(accesses|misses)"/ { s = s " " value() }
/"(written_back|stored_past|prefetched|prefetched_used)"/ { s = s " " value() }
/"prefetched_unused"/ { print s " " value() }
/"memory_reads"/ { memory = "memory " value() }
/"memory_writes"/ { memory = memory " " value() }
/"page_walks"/ { print memory " walks " value() }
