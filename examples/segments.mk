# A run in segments: make -j 8 -f segments.mk CAPTURE=prog.ws OPTIONS='--d1 48k,12,64'
# or of another tool with partial results, as TOOL=addrmrc or addrstat
TOOL = cachesim
CAPTURE = prog.ws
SEGMENTS = 8
OPTIONS =

RANGES := $(shell ws2addr --segments $(SEGMENTS) $(CAPTURE))
# a colon cannot be in the name of a target
PARTS := $(foreach r,$(RANGES),part.$(subst :,-,$(r)))

result: $(PARTS)
	$(TOOL) --merge -o $@ $(PARTS)

part.%: $(CAPTURE)
	$(TOOL) --partial $(OPTIONS) -n $(subst -,:,$*) -o $@ $(CAPTURE)
