#!/bin/sh
# The API with curl 7.84 or newer. curl and the shell copy numbers as text, so every integer stays exact.
#
#     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... sh examples/curl.sh
set -eu
: "${ANIMAL_STORE_URL:=http://127.0.0.1:3000/v1}"
: "${ANIMAL_STORE_KEY:?set ANIMAL_STORE_KEY to an API key}"

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# Sends a request, and expects a status. curl retries it after a lost connection, 408, 429, 500, 502, 503 and 504, with at most
# 5 attempts, and waits for the time in Retry-After. Prints the body, sets $link to the Link field, and fails if the status is
# another one. If the API did not send the response, such as a page of a proxy, a pet may have been created.
send() {
  expected=$1
  shift
  curl --silent --max-time 30 --retry 4 --retry-all-errors --retry-max-time 120 \
    --header "Authorization: Bearer $ANIMAL_STORE_KEY" \
    --output "$folder/body" --write-out '%{http_code} %{content_type}\n%header{link}\n' "$@" > "$folder/result" || return
  { read -r status type; read -r link; } < "$folder/result" || return
  cat "$folder/body"
  echo
  case "$status $type" in
    "$expected application/json") ;;
    [45]??\ application/json) return 1 ;;
    *) echo "status $status, which the API did not send" >&2; return 1 ;;
  esac
}

# Creates a pet from JSON. Each attempt has the same key, and each pet has its own key.
create_pet() {
  key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  send 201 --header "Idempotency-Key: $key" --json "$1" "$ANIMAL_STORE_URL/pets"
}

# Prints all pets that match a query, one page per line.
list_pets() {
  origin=$(printf %s "$ANIMAL_STORE_URL" | sed 's|\(//[^/]*\).*|\1|')
  path="${ANIMAL_STORE_URL#"$origin"}/pets?$1"
  while [ -n "$path" ]; do
    send 200 "$origin$path"
    path=$(printf %s "$link" | sed -n 's/.*<\([^>]*\)>; rel="next".*/\1/p')
  done
}

echo '# Create three pets whose categoryId is too large for a double'
for name in Rex Tom Минька; do
  create_pet '{"name":"'"$name"'","categoryId":9007199254740993,"status":"sold"}'
done

echo '# List all sold pets, two per page'
list_pets 'status=sold&limit=2'

echo '# The response to an invalid request has a code, a message and a status'
! create_pet '{"name":"","categoryId":7}'

