/** The samples for retries in the description of the API, in Markdown: parts of the programs in the folder `examples`. */

/** Sends a request until it has a response, and creates a pet exactly once. In shell, JavaScript, Python and Go. */
export const RETRY_SAMPLES: string = `\`\`\`sh
# Sends a request. Repeats it after a lost connection, a 429 or a 503, up to 5 attempts in all. curl waits for the time in
# Retry-After, and also repeats after a 408, 500, 502 or 504. Prints the body, sets $link to the Link field, and fails if the
# status is 400 or above.
send() {
  curl --silent --max-time 30 --retry 4 --retry-all-errors --retry-max-time 120 \\
    --header "Authorization: Bearer $ANIMAL_STORE_KEY" \\
    --output "$folder/body" --write-out '%{http_code} %header{link}\\n' "$@" > "$folder/result" || return
  read -r status link < "$folder/result"
  cat "$folder/body"
  echo
  [ "$status" -lt 400 ]
}

# Creates a pet from JSON. Each attempt has the same key, and each pet has its own key.
create_pet() {
  key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')
  send --header "Idempotency-Key: $key" --json "$1" "$ANIMAL_STORE_URL/pets"
}
\`\`\`

\`\`\`js
/** Sends a request. Repeats it after a lost connection, a 429 or a 503, up to 5 attempts in all. */
async function send(url, options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    let seconds = 2 ** (attempt - 2);
    try {
      const response = await fetch(url, {
        ...options,
        headers: { Authorization: \`Bearer \${KEY}\`, ...options.headers },
        signal: AbortSignal.timeout(30_000),
      });
      const result = { response, text: await response.text() };
      if (attempt === ATTEMPTS || (response.status !== 429 && response.status !== 503)) return result;
      seconds = Number(response.headers.get('Retry-After')) || seconds;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, MAX_WAIT) * 1000));
  }
}

/** Creates a pet. \`categoryId\` is a \`bigint\` or a safe integer. Each attempt has the same key, each pet its own key. */
async function createPet(pet) {
  const result = await send(\`\${BASE_URL}/pets\`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() },
    body: JSON.stringify(pet, writeExactly),
  });
  return bodyOf(result);
}
\`\`\`

\`\`\`python
def _send(
    self, url: str, body: Optional[bytes] = None, headers: dict[str, str] = {}
) -> tuple[Any, HTTPMessage]:
    """Sends a request. Repeats it after a lost connection, a 429 or a 503, up to 5 attempts in all."""
    request = Request(url, body, {"Authorization": f"Bearer {self._key}", **headers})
    for attempt in range(ATTEMPTS):
        is_last = attempt == ATTEMPTS - 1
        wait = 2.0 ** (attempt - 1)
        try:
            with urlopen(request, timeout=30) as response:
                return json.load(response), response.headers
        except HTTPError as error:
            if is_last or error.code not in (429, 503):
                raise AnimalStoreError(**json.load(error)) from None
            retry_after = error.headers.get("Retry-After", "")
            wait = float(retry_after) if retry_after.isdecimal() else wait
        except (OSError, HTTPException):
            if is_last:
                raise
        time.sleep(min(wait, MAX_WAIT))
    raise AssertionError("the last attempt returns or raises")
\`\`\`

\`\`\`go
// send sends a request, and decodes the response into result. It repeats the request after a lost connection, a 429 or a
// 503, up to 5 attempts in all. It returns an *APIError for a response that is an error.
func (s *Store) send(method, address string, header http.Header, body []byte, result any) (*http.Response, error) {
	header.Set("Authorization", "Bearer "+s.key)
	for attempt := 1; ; attempt++ {
		response, received, err := s.attempt(method, address, header, body)
		isTemporary := err != nil || response.StatusCode == 429 || response.StatusCode == 503
		if !isTemporary || attempt == attempts {
			if err != nil {
				return nil, err
			}
			return response, decode(response.StatusCode, received, result)
		}
		wait := (time.Second << attempt) / 4
		if response != nil {
			if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
				wait = time.Duration(seconds) * time.Second
			}
		}
		if wait > maxWait {
			wait = maxWait
		}
		time.Sleep(wait)
	}
}
\`\`\``;
