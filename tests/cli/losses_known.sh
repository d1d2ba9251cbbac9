# Whatever the recorder counts as lost, the analyser knows what that affects: each source has a line in loss_effects.def.
python3 - "$TOP" <<'P'
import glob, re, sys
top = sys.argv[1]
read = lambda f: open(f, encoding="utf-8").read()
known = set(re.findall(r'^CAUSE\("([^"]*)"', read(top + "/analyze/load/loss_effects.def"), re.M))
sources = set(re.findall(r'\bX\([A-Z_]+, "([^"]*)",', read(top + "/bpf/wire.h")))
for f in glob.glob(top + "/record/**/*.c", recursive=True):
    sources |= set(re.findall(r'\b(?:tracker_lose|binaries_lose|loss__add)\([^,"]*,\s*"([^"]*)"', read(f)))
assert len(sources) > 10, sources
print("not known:", sorted(sources - known) or "none", "never counted:", sorted(known - sources - {"pcap"}) or "none")
P
