#!/bin/sh
# Prints all pets after an id, one page per line, and each later pet as soon as it is stored.
#
#     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... sh examples/follow/curl.sh [LAST_ID]
set -eu
: "${ANIMAL_STORE_URL:=http://127.0.0.1:3000/v1}"
: "${ANIMAL_STORE_KEY:?set ANIMAL_STORE_KEY to an API key}"
after=${1:-0}

file=$(mktemp)
trap 'rm "$file"' EXIT
trap 'exit 1' HUP INT TERM

while :; do
  # curl waits for the time in Retry-After, up to a minute, and prints an error. Then the same request is repeated. A retry overwrites
  # the file from its start.
  curl --silent --show-error --fail --max-time 30 --retry 4 --retry-all-errors --retry-max-time 60 --output "$file" \
    --header "Authorization: Bearer $ANIMAL_STORE_KEY" "$ANIMAL_STORE_URL/pets?limit=100&after=$after" || : > "$file"
  page=$(cat "$file")
  case $page in
    '['*) ;;
    ?*) echo 'a response that the API did not send' >&2; page='' ;;
  esac
  # In a name, a quotation mark has a backslash before it, so this finds no id in a name.
  last=$(printf %s "$page" | grep -o '"id":[0-9]*' | tail -n 1 | cut -d : -f 2)
  if [ -z "$last" ]; then
    sleep 1
    continue
  fi
  # Store the pets together with the last id.
  printf '%s\n' "$page"
  after=$last
done
