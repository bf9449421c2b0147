#!/bin/sh
# The API from a shell: ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... examples/curl.sh
set -eu
: "${ANIMAL_STORE_URL:=http://127.0.0.1:3000/v1}"
: "${ANIMAL_STORE_KEY:?is the API key}"

pets() {
  curl --silent --fail-with-body --write-out '\n' --header "Authorization: Bearer $ANIMAL_STORE_KEY" "$@"
}

echo '# Create a pet whose categoryId is too large for a double'
pets --json '{"name":"Rex","categoryId":9007199254740993}' "$ANIMAL_STORE_URL/pets"

echo '# List the first ten available pets'
pets "$ANIMAL_STORE_URL/pets?status=available&limit=10"

echo '# The response to an invalid request has a code, a message and a status'
! pets "$ANIMAL_STORE_URL/pets?limit=0"
