/** What the reference page shows as samples, word for word. */

import type { Language } from '../../page/samples/samples.ts';

const PRINT_IN_JAVASCRIPT = String.raw`
// JSON.parse alone would round integers above 2^53.
const exact = (key, value, { source }) =>
  /^-?\d{16,}$/.test(source) ? BigInt(source) : value;
const body = await response.text();
console.log(response.status, JSON.parse(body, exact));
`;

const PRINT_IN_PYTHON = `try:
    response = urlopen(request)
except HTTPError as error:
    response = error
# The integers of Python are exact.
print(response.status, json.load(response))
`;

const SEND_IN_GO = `	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		problem, _ := io.ReadAll(response.Body)
		log.Fatal(response.Status, " ", string(problem))
	}
`;

const PRINT_IN_GO = String.raw`	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %+v\n", response.Status, result)
}
`;

export const CREATE_SAMPLES: Record<Language, string> = {
  curl: String.raw`curl --request POST 'https://pets.example.org/v1/pets' \
  --header "Authorization: Bearer $ANIMAL_STORE_KEY" \
  --header 'Content-Type: application/json' \
  --header "Idempotency-Key: $(uuidgen)" \
  --data-raw '{"name":"Rex"}'
`,
  JavaScript: `// curl -O https://pets.example.org/docs/animal-store-client.js
import { createAnimalStore } from './animal-store-client.js';

const store = await createAnimalStore({
  database: 'https://pets.example.org/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});
console.log(await store.createPet({ name: 'Rex' }));
`,
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
${PRINT_IN_JAVASCRIPT}`,
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
${PRINT_IN_PYTHON}`,
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
${SEND_IN_GO}	var result Pet
${PRINT_IN_GO}`,
};

export const LIST_SAMPLES: Record<Language, string> = {
  curl: String.raw`curl 'https://pets.example.org/v1/pets?limit=2' \
  --header 'Authorization: Bearer pets_x'
`,
  JavaScript: `// curl -O https://pets.example.org/docs/animal-store-client.js
import { createAnimalStore } from './animal-store-client.js';

const store = await createAnimalStore({
  database: 'https://pets.example.org/v1',
  apiKey: 'pets_x',
});
console.log(await store.listPage({ limit: 2 }));
`,
  fetch: `const url = 'https://pets.example.org/v1/pets?limit=2';
const response = await fetch(url, {
  headers: {
    Authorization: 'Bearer pets_x',
  },
});
${PRINT_IN_JAVASCRIPT}`,
  Python: `import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "https://pets.example.org/v1/pets?limit=2",
    headers={
        "Authorization": "Bearer pets_x",
    },
)
${PRINT_IN_PYTHON}`,
  Go: `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
)

func main() {
	request, err := http.NewRequest("GET", "https://pets.example.org/v1/pets?limit=2", nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer pets_x")
${SEND_IN_GO}	var result any
${PRINT_IN_GO}`,
};
