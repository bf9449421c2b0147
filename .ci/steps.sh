# The runner of the tiers: .ci/run, .ci/nightly and .ci/release source this file. Steps run one after another, and nothing
# beside them. The seconds of each step are printed after it. The last line is "N passed, N failed": the number of tests,
# plus one for every step that prints no count. What passed only at the second try is printed before it, as FLAKY.
set -u
cd "$(dirname "$0")/.."
export NO_COLOR=1 CI=true
# Each hook of Git has variables that name its repository.
unset "${!GIT_@}"
passed=0 failed=0 skipped=0
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
touch "$folder/flaky"

# Runs a step. Arguments: its name, its command, and the number of tries.
step() {
  local begin=$SECONDS status=1 try
  : >"$folder/out"
  for try in $(seq "${3:-1}"); do
    echo "== $1"
    # A step that hangs ends.
    timeout -k 10 "${STEP_TIMEOUT:-3000}" bash -o pipefail -c "$2" </dev/null 2>&1 | tee "$folder/out"
    status=${PIPESTATUS[0]}
    [ "$status" -ne 0 ] || break
    [ "$try" -eq "${3:-1}" ] || echo "FLAKY $1: $(grep -im1 error "$folder/out" || echo "exit status $status")" >>"$folder/flaky"
  done
  count "$1" "$status"
  echo "== $1: $((SECONDS - begin)) s"
}

# Runs a step that downloads something, once more if it fails.
download() { step "$1" "$2" 2; }

# Adds the result of a step. Arguments: its name and its exit status.
count() {
  local line tests=0 failures=0 skips=0
  grep '^FLAKY ' "$folder/out" >>"$folder/flaky"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$folder/out" | tail -n 1)
  if [ -n "$line" ]; then
    read -r tests failures skips _ < <(tr -cs '0-9\n' ' ' <<<"$line")
  elif [ "$2" -eq 0 ]; then
    tests=1
  fi
  if [ "$2" -ne 0 ]; then
    [ "$failures" -gt 0 ] || failures=1
    echo "== FAILED: $1"
  fi
  passed=$((passed + tests)) failed=$((failed + failures)) skipped=$((skipped + ${skips:-0}))
}

finish() {
  local flaky
  flaky=$(wc -l <"$folder/flaky")
  if [ "$flaky" -gt 2 ]; then
    echo "== FAILED: expected 2 flaky tests at most"
    failed=$((failed + 1))
  fi
  echo "== all: $SECONDS s, $flaky flaky"
  cat "$folder/flaky"
  echo "$passed passed, $failed failed$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
  [ "$failed" -eq 0 ]
}
