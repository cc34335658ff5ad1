# First inputs that need not be kept: seeds.sh FOLDER makes FOLDER/TARGET/*, with the test programs of BUILD
set -e
: "${BUILD:?}"
golden=$(cd "$(dirname "$0")/../golden" && pwd)
to=$(cd "$1" && pwd)
mkdir -p "$to/wettextfuzz" "$to/wsfuzz" "$to/biffuzz" "$to/wetfuzz" "$to/wetqfuzz" "$to/reffuzz" "$to/infuzz" "$to/schemafuzz" "$to/eventsfuzz" "$to/laplacefuzz" "$to/tracefuzz" "$to/replay"
"$BUILD/test/wstest" seeds "$to/wsfuzz" >/dev/null
"$BUILD/test/wsrunstest" seeds "$to/wsfuzz" >/dev/null
"$BUILD/test/wspagestest" seeds "$to/wsfuzz" >/dev/null
"$BUILD/test/streamtest" seeds "$to/biffuzz" >/dev/null
cp "$golden"/*.ws "$to/wsfuzz/"
cp "$golden"/*.ws "$to/replay/"
cp "$golden"/*.bif "$to/biffuzz/"
cp "$golden"/*.wet "$to/wetfuzz/"
cp "$golden"/*.wet "$to/wetqfuzz/"
cp "$golden"/*.ref "$to/reffuzz/"
cp "$golden"/*.schema "$to/schemafuzz/"
cp "$golden"/*.ae "$to/eventsfuzz/"
cp "$golden"/laplace.kernel "$to/laplacefuzz/"
xz -dc "$golden"/laplace.merged.xz >"$to/laplacefuzz/merged"
xz -dc "$golden"/laplace.raw.xz | head -c 6000 >"$to/laplacefuzz/raw"
for seed in 1 2 3 4 5 6; do
	for how in text loose small; do "$BUILD/test/wettextgen" $how $seed >"$to/wettextfuzz/$how.$seed"; done
done

# drmemtrace: the beginning and the end, a record of most types, one more thread, and a large access; after
# a byte by which the format is recognized
{
	printf '\0\031\0\0\0\007\0\0\0\0\0\0\0\026\0\004\0\001\0\0\0\0\0\0\0'
	for type in 0 1 2 11 12 14 23 26 30 33 34 35 36 37 40 57 60 61; do
		printf "\\$type\\0\\004\\0\\020\\0\\0\\0\\0\\0\\0\\0"
	done
	printf '\021\0\002\0\001\003\0\0\0\0\0\0\026\0\004\0\002\0\0\0\0\0\0\0\0\0\001\001\020\0\0\0\0\0\0\0\032\0\0\0\0\0\0\0\0\0\0\0'
} >"$to/tracefuzz/drmemtrace"

# one line compressed and archived in every way
cd "$to/infuzz"
echo 'I  04000000,3 a line of text' >m
gzip -c m >m.gz
bzip2 -c m >m.bz2
xz -c m >m.xz
zstd -q -f m -o m.zst
compress -c m >m.Z 2>/dev/null || :
tar -cf m.tar m
gzip -c m.tar >m.tar.gz
bzip2 -c m.tar >m.tar.bz2
xz -c m.tar >m.tar.xz
zstd -q -f m.tar -o m.tar.zst
python3 -c 'import sys, zipfile
for how in zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED:
    with zipfile.ZipFile("m%d.zip" % how, "w", how) as z: z.write("m")'
