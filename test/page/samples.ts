/** What the reference page shows as samples of a create, word for word. */

import type { Language } from '../../page/samples/samples.ts';

export const CREATE_SAMPLES: Record<Language, string> = {
  curl: String.raw`curl --request POST 'https://pets.example.org/v1/pets' \
  --header "Authorization: Bearer $ANIMAL_STORE_KEY" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" \
  --data-raw '{"name":"Rex"}'
`,
  // only the client: from here
  JavaScript: `// curl -O https://pets.example.org/docs/animal-store-client.js
import { createAnimalStore } from './animal-store-client.js';

const store = await createAnimalStore({
  database: 'https://pets.example.org/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});
console.log(await store.createPet({ name: 'Rex' }));
`,
  // only the client: to here
  fetch: `const url = 'https://pets.example.org/v1/pets';
const response = await fetch(url, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.ANIMAL_STORE_KEY}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: '{"name":"Rex"}',
});

// JSON.parse alone would round integers above 2^53.
const exact = (key, value, { source }) =>
  /^-?\\d{16,}$/.test(source) ? BigInt(source) : value;
const body = await response.text();
console.log(response.status, JSON.parse(body, exact));
`,
  Python: `import json
import os
import uuid
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "https://pets.example.org/v1/pets",
    method="POST",
    headers={
        "Authorization": "Bearer " + os.environ["ANIMAL_STORE_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    },
    data='{"name":"Rex"}'.encode(),
)
try:
    response = urlopen(request)
except HTTPError as error:
    response = error
# The integers of Python are exact.
print(response.status, json.load(response))
`,
  Go: `package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
)

type Pet struct {
	Id         int64  \`json:"id"\`
	Name       string \`json:"name"\`
	CategoryId int64  \`json:"categoryId"\`
	Status     string \`json:"status"\`
}

func main() {
	request, err := http.NewRequest("POST", "https://pets.example.org/v1/pets", strings.NewReader(\`{"name":"Rex"}\`))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ANIMAL_STORE_KEY"))
	request.Header.Set("Content-Type", "application/json")
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Idempotency-Key", fmt.Sprintf("%x", key))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		problem, _ := io.ReadAll(response.Body)
		log.Fatal(response.Status, " ", string(problem))
	}
	var result Pet
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %+v\\n", response.Status, result)
}
`,
};
