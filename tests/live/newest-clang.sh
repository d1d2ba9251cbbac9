# The BPF programs as the newest clang makes them: built, within the verifier's room, and counting right.
. tests/live/lib.inc
. tests/live/talk.inc
clang=$(make -s print-NEWEST_CLANG)
[ -n "$clang" ] && [ "$("$clang" --version | head -n 1)" != "$(clang --version | head -n 1)" ] || skip "no clang newer than the usual one (scripts/deps test)"
make -s -j"$(nproc)" newest-clang >"$T/make" 2>&1 || { tail -n 20 "$T/make"; fail "not built by $clang"; }
newest=${B:-build}/newest-clang
"$newest/tests/bench/verify_insns" 200000 >"$T/verify" || { cat "$T/verify"; fail "the programs of $clang are not loaded"; }
echo "ok: $("$clang" --version | head -n 1): $(wc -l <"$T/verify") programs, the largest: $(sort -k2,2nr "$T/verify" | sed -n 1p)"
"$newest/obrec" -q -e cpu,offcpu,l4,l7 --debuginfo none -o "$T/talk.obz" -- "$WORKLOAD/talk" 50 >"$T/account"
talk_ends "$T/talk.obz" "$T/account" is
