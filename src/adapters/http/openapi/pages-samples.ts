/** The samples for pages in the description of the API, in Markdown: parts of the programs in the folder `examples`. */

/** Walks all pages of a list, in shell, JavaScript, Python and Go. */
export const PAGES_SAMPLES: string = `\`\`\`sh
# Prints all pets that match a query, one page per line.
list_pets() {
  origin=$(printf %s "$ANIMAL_STORE_URL" | sed 's|\\(//[^/]*\\).*|\\1|')
  path="\${ANIMAL_STORE_URL#"$origin"}/pets?$1"
  while [ -n "$path" ]; do
    send "$origin$path"
    path=$(printf %s "$link" | sed -n 's/.*<\\([^>]*\\)>; rel="next".*/\\1/p')
  done
}
\`\`\`

\`\`\`js
/** Yields all pets that match a query, page by page. */
async function* listPets(query) {
  let url = \`\${BASE_URL}/pets?\${new URLSearchParams(query)}\`;
  while (url !== undefined) {
    const result = await send(url);
    yield* bodyOf(result);
    const next = /<([^>]+)>; rel="next"/.exec(result.response.headers.get('Link') ?? '')?.[1];
    url = next && new URL(next, url).href;
  }
}
\`\`\`

\`\`\`python
def list_pets(self, **query: Any) -> Iterator[dict[str, Any]]:
    """Yields all pets that match a query, page by page."""
    url: Optional[str] = f"{self._url}/pets?{urlencode(query)}"
    while url is not None:
        page, headers = self._send(url)
        yield from page
        following = re.search(r'<([^>]+)>; rel="next"', headers.get("Link", ""))
        url = urljoin(url, following[1]) if following else None
\`\`\`

\`\`\`go
// Walk calls visit with each page of the matching pets, until the last page or the first error.
func (s *Store) Walk(query url.Values, visit func(page []Pet) error) error {
	next := s.baseURL + "/pets?" + query.Encode()
	for next != "" {
		var page []Pet
		response, err := s.send(http.MethodGet, next, http.Header{}, nil, &page)
		if err != nil {
			return err
		}
		if err := visit(page); err != nil {
			return err
		}
		if next, err = nextURL(response); err != nil {
			return err
		}
	}
	return nil
}

var nextLink = regexp.MustCompile(\`<([^>]+)>; rel="next"\`)

// nextURL returns the URL of the next page, or an empty string after the last page. The link is relative to the request.
func nextURL(response *http.Response) (string, error) {
	match := nextLink.FindStringSubmatch(response.Header.Get("Link"))
	if match == nil {
		return "", nil
	}
	next, err := response.Request.URL.Parse(match[1])
	if err != nil {
		return "", err
	}
	return next.String(), nil
}
\`\`\``;
