# The soak of scripts/bench.d, half a minute of it and of its own load alone: memory flat after the first tenth, the archive whole.
. tests/live/lib.inc
SOAK_TARGET=churn SOAK_SECONDS=30 SOAK_RATE=20 timeout 120 bash scripts/bench.d/soak.sh >"$T/out" 2>&1 || { cat "$T/out"; fail "the soak"; }
cat "$T/out"
within "seconds to stop" "$(sed -n 's/^seconds to stop *\([0-9.]*\).*/\1/p' "$T/out")" 0 20
