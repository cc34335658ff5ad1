# Where the recorder would be noticed, or would miss something, it is not
. "$HERE/lib.sh"
gcc -O1 -pthread $static -o recorder "$HERE/recorder.c" || exit 1
unset TRACEMILL_STORE

for i in shown limited filtered foreign; do captured "$i" --recorder on -- ./recorder $i; done

# inside COMMAND...: in how many mappings the recorder is after many calls: $in
inside() {
	: >out
	"$@" >out &
	until grep -q ready out; do sleep 0.05; done
	read -r pid <"/proc/$!/task/$!/children"
	in=$(grep -c memfd:recorder "/proc/$pid/maps")
	kill -9 "$pid"
	wait $!
}

inside wscap -o c.ws ./recorder forever
is "it is there by itself" "$((in > 0))" 1
ok "replayed" ws2addr -o /dev/null c.ws
for i in "--recorder off" "--recorder on --audit" "--recorder on --first-touch" "--calls 100000000" "--to SIGUSR2"; do
	# shellcheck disable=SC2086
	inside wscap $i -o c.ws ./recorder forever
	is "not with $i" "$in" 0
done
for i in "--calls 5" "--from main" "--to main" "-p $$"; do
	# shellcheck disable=SC2086
	wscap --recorder on $i -o d.ws true 2>err
	is "$i and on: status" $? 125
done
is "nothing is written" "$(ls d.ws 2>&1 | grep -c cannot)" 1
tap_end
