# Every truncation and every flipped bit of small compressed files and archives: what may go unnoticed, and nothing else
. "$SRC/testdata/tap.sh"

# damage FILE WANT: prints refused, same, plain, wrong
wrong() {
	"$BUILD/test/damage" "$1" w | sed 's/.* plain, //'
}

seq 40 >w
tar cf w.tar --format=ustar -b 1 w
python3 - <<'X'
import zipfile
data = open('w').read()
class Pipe:
    def __init__(self, name): self.f = open(name, 'wb')
    def write(self, x): return self.f.write(x)
    def flush(self): self.f.flush()
for name, how in ('stored', 0), ('deflated', 8), ('bzip2', 12), ('lzma', 14):
    with zipfile.ZipFile(name + '.zip', 'w', how) as z: z.writestr('w', data)
with zipfile.ZipFile(Pipe('pipe.zip'), 'w', 8) as z: z.writestr('w', data)
with zipfile.ZipFile('two.zip', 'w', 8) as z: z.writestr('v', 'v'); z.writestr('w', data)
X
all="gzip bzip2 xz zstd"
# with sanitizers it takes some times as long
[ "$SAN" ] && all="gzip zstd" && rm bzip2.zip lzma.zip stored.zip pipe.zip
for z in $all; do
	$z -c <w >w.$z
	$z -c <w.tar >w.tar.$z
	is "$z: nothing wrong is taken" "$(wrong w.$z)" "0 wrong"
	is "tar and $z: nothing wrong is taken" "$(wrong w.tar.$z)" "0 wrong"
done
for f in *.zip; do is "$f: nothing wrong is taken" "$(wrong $f//w)" "0 wrong"; done
# a tar file has no check sum of what its members hold: 111 bytes here
is "tar: nothing wrong is taken but flipped bits of the member" "$(wrong w.tar)" "$((8 * $(wc -c <w))) wrong"
# and compress(1) none at all, nor a length
compress -c <w >w.Z
[ "$(wrong w.Z)" != "0 wrong" ] && pass "compress: damage is taken" || fail "compress: damage is taken: say so no more"
tap_end
