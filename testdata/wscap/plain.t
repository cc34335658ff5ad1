# The beginning of a capture is not compressed, the rest is: a long run does not fill the disk
. "$HERE/lib.sh"
yes 'some text that repeats itself' | head -c 30000000 >long
wscap -o c.ws dd if=long of=/dev/null bs=64k status=none
is "status" $? 0
n=$(wc -c <c.ws)
ok "16 megabytes are not" [ "$n" -gt 16000000 ]
ok "the other 14 are" [ "$n" -lt 22000000 ]
ok "replayed" ws2addr -o /dev/null c.ws
# pages of a process that is not the first one
wscap -o c.ws sh -c 'dd if=long of=/dev/null bs=64k status=none; exit 3'
is "a child: status" $? 3
n=$(wc -c <c.ws)
ok "a child: 16 megabytes are not" [ "$n" -gt 16000000 ]
ok "a child: the other 14 are" [ "$n" -lt 28000000 ]
ok "a child: replayed" ws2addr -o /dev/null c.ws
wstrim -o t.ws c.ws
ok "trimmed, it is small" [ "$(wc -c <t.ws)" -lt 4000000 ]
tap_end
