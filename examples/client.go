// The API with the standard library of Go 1.18 or newer. The fields ID and CategoryID are int64, so no number is rounded.
//
//	ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... go run examples/client.go
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"
)

const (
	attempts = 5
	maxWait  = 30 * time.Second
)

// isRetried has the statuses after which a retry can succeed. A proxy sends 502 and 504.
var isRetried = map[int]bool{408: true, 429: true, 502: true, 503: true, 504: true}

// NewPet is the body of a request that creates a pet.
type NewPet struct {
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	// Status is "available", "pending" or "sold". Without a status, the pet is available.
	Status string `json:"status,omitempty"`
}

// Pet is a pet in a response.
type Pet struct {
	ID int64 `json:"id"`
	NewPet
}

// APIError is the body of every response that is an error.
type APIError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Status  int    `json:"status"`
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, e.Code, e.Message)
}

// Store is a client of one server.
type Store struct {
	baseURL string
	key     string
	client  http.Client
}

// Create creates a pet, and returns it with its id. Each attempt has the same key, and each pet has its own key.
func (s *Store) Create(pet NewPet) (Pet, error) {
	body, err := json.Marshal(pet)
	if err != nil {
		return Pet{}, err
	}
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return Pet{}, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {fmt.Sprintf("%x", key)}}
	var created Pet
	_, err = s.send(http.MethodPost, s.baseURL+"/pets", header, body, &created)
	return created, err
}

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

var nextLink = regexp.MustCompile(`<([^>]+)>; rel="next"`)

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

// send sends a request, and decodes the response into result. It retries the request after a lost connection and
// after the statuses in isRetried, with at most 5 attempts. It returns an *APIError for a response that is an error.
func (s *Store) send(method, address string, header http.Header, body []byte, result any) (*http.Response, error) {
	header.Set("Authorization", "Bearer "+s.key)
	for attempt := 1; ; attempt++ {
		response, received, err := s.attempt(method, address, header, body)
		isTemporary := err != nil || isRetried[response.StatusCode]
		if !isTemporary || attempt == attempts {
			if err != nil {
				return nil, err
			}
			return response, decode(method, response, received, result)
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

// attempt sends a request once, and reads the whole response.
func (s *Store) attempt(method, address string, header http.Header, body []byte) (*http.Response, []byte, error) {
	request, err := http.NewRequest(method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header = header
	response, err := s.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	return response, received, err
}

// decode returns an *APIError for an error of the API. After another error, a pet may have been created.
func decode(method string, response *http.Response, body []byte, result any) error {
	expected := http.StatusOK
	if method == http.MethodPost {
		expected = http.StatusCreated
	}
	status, isJSON := response.StatusCode, response.Header.Get("Content-Type") == "application/json"
	if status == expected && isJSON {
		return json.Unmarshal(body, result)
	}
	refused := &APIError{}
	if err := json.Unmarshal(body, refused); status < 400 || err != nil || refused.Code == "" {
		return fmt.Errorf("status %d, which the API did not send", status)
	}
	return refused
}

func main() {
	log.SetFlags(0)
	baseURL := os.Getenv("ANIMAL_STORE_URL")
	if baseURL == "" {
		baseURL = "http://127.0.0.1:3000/v1"
	}
	key := os.Getenv("ANIMAL_STORE_KEY")
	if key == "" {
		log.Fatal("set ANIMAL_STORE_KEY to an API key")
	}
	store := &Store{baseURL, key, http.Client{Timeout: 30 * time.Second}}

	for _, name := range []string{"Rex", "Tom", "Минька"} {
		pet, err := store.Create(NewPet{Name: name, CategoryID: 9007199254740993, Status: "sold"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("created pet %d\n", pet.ID)
	}
	walked := store.Walk(url.Values{"status": {"sold"}, "limit": {"2"}}, func(page []Pet) error {
		for _, pet := range page {
			fmt.Printf("pet %d: %s in category %d\n", pet.ID, pet.Name, pet.CategoryID)
		}
		return nil
	})
	if walked != nil {
		log.Fatal(walked)
	}
	_, err := store.Create(NewPet{Name: "", CategoryID: 7})
	var refused *APIError
	if !errors.As(err, &refused) {
		log.Fatalf("expected an error of the API, got %v", err)
	}
	fmt.Println("refused:", refused)
}
