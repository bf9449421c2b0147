"""The API with Python's standard library alone. Python's integers are exact at any size, so int64 needs no care.

ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... python3 examples/client.py
"""

import json
import os
import re
import sys
import time
import uuid
from http.client import HTTPException, HTTPMessage
from typing import Any, Iterator, Optional
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

ATTEMPTS = 5
MAX_WAIT = 30
# The statuses after which a retry can succeed. A proxy sends 502 and 504.
RETRIED = (408, 429, 502, 503, 504)


class AnimalStoreError(Exception):
    """An error response of the API, with its `code` and `status`."""

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.code = code
        self.status = status


def error_of(error: HTTPError) -> Exception:
    """Returns the error of the API, or that of a proxy, which responds with HTML."""
    try:
        return AnimalStoreError(**json.load(error))
    except (TypeError, ValueError):
        return ValueError(f"status {error.code}, which the API did not send")


class AnimalStore:
    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def create_pet(self, name: str, category_id: int, status: Optional[str] = None) -> dict[str, Any]:
        """Creates a pet. Each attempt has the same key, and each pet has its own key.

        After another error than AnimalStoreError, the pet may be stored.
        """
        pet: dict[str, Any] = {"name": name, "categoryId": category_id}
        if status is not None:
            pet["status"] = status
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
        return self._send(self._url + "/pets", json.dumps(pet).encode(), headers, 201)[0]

    def list_pets(self, **query: Any) -> Iterator[dict[str, Any]]:
        """Yields all pets that match a query, page by page."""
        url: Optional[str] = f"{self._url}/pets?{urlencode(query)}"
        while url is not None:
            page, headers = self._send(url)
            yield from page
            following = re.search(r'<([^>]+)>; rel="next"', headers.get("Link", ""))
            url = urljoin(url, following[1]) if following else None

    def _send(
        self, url: str, body: Optional[bytes] = None, headers: dict[str, str] = {}, expected: int = 200
    ) -> tuple[Any, HTTPMessage]:
        """Sends a request. Retries it after a lost connection and after the statuses in RETRIED, with at most 5 attempts."""
        request = Request(url, body, headers)
        # The key is not sent to another server if a proxy redirects.
        request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        for attempt in range(ATTEMPTS):
            is_last = attempt == ATTEMPTS - 1
            wait = 2.0 ** (attempt - 1)
            try:
                with urlopen(request, timeout=30) as response:
                    if (response.status, response.headers.get_content_type()) != (expected, "application/json"):
                        raise ValueError(f"status {response.status}, which the API did not send")
                    return json.load(response), response.headers
            except HTTPError as error:
                if is_last or error.code not in RETRIED:
                    raise error_of(error) from None
                retry_after = error.headers.get("Retry-After", "")
                wait = float(retry_after) if retry_after.isdecimal() else wait
            except (OSError, HTTPException):
                if is_last:
                    raise
            time.sleep(min(wait, MAX_WAIT))
        raise AssertionError("the last attempt returns or raises")


if __name__ == "__main__":
    key = os.environ.get("ANIMAL_STORE_KEY")
    if key is None:
        sys.exit("set ANIMAL_STORE_KEY to an API key")
    store = AnimalStore(os.environ.get("ANIMAL_STORE_URL", "http://127.0.0.1:3000/v1"), key)
    for name in ("Rex", "Tom", "Минька"):
        pet = store.create_pet(name, 9007199254740993, "sold")
        print(f"created pet {pet['id']}")
    for pet in store.list_pets(status="sold", limit=2):
        print(f"pet {pet['id']}: {pet['name']} in category {pet['categoryId']}")
    try:
        store.create_pet("", 7)
    except AnimalStoreError as error:
        print(f"refused: {error}")
