#!/bin/sh
# The API from a shell: ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... examples/curl.sh
set -eu
: "${ANIMAL_STORE_URL:=http://127.0.0.1:3000/v1}"
: "${ANIMAL_STORE_KEY:?is the API key}"

pets() {
  curl --silent --fail-with-body --write-out '\n' --header "Authorization: Bearer $ANIMAL_STORE_KEY" "$@"
}

echo '# Add an animal; its categoryId is beyond what a double can hold'
pets --json '{"name":"Rex","categoryId":9007199254740993}' "$ANIMAL_STORE_URL/pets"

echo '# The first ten that are available'
pets "$ANIMAL_STORE_URL/pets?status=available&limit=10"

echo '# A mistake is answered with a code, a message and a status'
! pets "$ANIMAL_STORE_URL/pets?limit=0"
