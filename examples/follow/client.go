// Prints all pets after an id, and each later pet as soon as it is stored.
//
//	ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... go run examples/follow/client.go [LAST_ID]
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Pet is a pet in a response.
type Pet struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

var client = http.Client{Timeout: 30 * time.Second}

// read returns the next pets, and the time to wait if there are none.
func read(baseURL string, after int64) ([]Pet, time.Duration, error) {
	wait := time.Second
	address := fmt.Sprintf("%s/pets?limit=100&after=%d", baseURL, after)
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, wait, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("ANIMAL_STORE_KEY"))
	response, err := client.Do(request)
	if err != nil {
		return nil, wait, err
	}
	defer response.Body.Close()
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		wait = time.Duration(seconds) * time.Second
		if wait > time.Minute {
			wait = time.Minute
		}
	}
	mediaType := response.Header.Get("Content-Type")
	if response.StatusCode != http.StatusOK || mediaType != "application/json" {
		return nil, wait, fmt.Errorf("unexpected response: status %s, type %q", response.Status, mediaType)
	}
	var pets []Pet
	err = json.NewDecoder(response.Body).Decode(&pets)
	return pets, wait, err
}

func main() {
	baseURL := os.Getenv("ANIMAL_STORE_URL")
	if baseURL == "" {
		baseURL = "http://127.0.0.1:3000/v1"
	}
	var after int64
	if len(os.Args) > 1 {
		var err error
		if after, err = strconv.ParseInt(os.Args[1], 10, 64); err != nil {
			log.Fatal(err)
		}
	}
	for {
		pets, wait, err := read(baseURL, after)
		if err != nil {
			log.Print(err)
			pets = nil
		}
		for _, pet := range pets {
			// Store the pet together with its id.
			fmt.Printf("pet %d: %s\n", pet.ID, pet.Name)
			after = pet.ID
		}
		if len(pets) == 0 {
			time.Sleep(wait)
		}
	}
}
