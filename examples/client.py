"""The API with Python's standard library alone. Python's integers are exact at any size, so int64 needs no care.

ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... python3 examples/client.py
"""

import json
import os
import re
from typing import Any, Iterator, Optional
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen


class AnimalStoreError(Exception):
    """What the service refused, by its `code` and `status`."""

    def __init__(self, code: str, message: str, status: int) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.code = code
        self.status = status


class AnimalStore:
    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def add(self, name: str, category_id: int, status: Optional[str] = None) -> dict[str, Any]:
        pet: dict[str, Any] = {"name": name, "categoryId": category_id}
        if status is not None:
            pet["status"] = status
        return self._ask(self._url + "/pets", pet)[0]

    def walk(self, **query: Any) -> Iterator[dict[str, Any]]:
        """All matching pets, page by page."""
        url: Optional[str] = f"{self._url}/pets?{urlencode(query)}"
        while url is not None:
            pets, link = self._ask(url)
            yield from pets
            following = re.search(r'<([^>]+)>; rel="next"', link)
            url = urljoin(url, following[1]) if following else None

    def _ask(self, url: str, body: Optional[dict[str, Any]] = None) -> tuple[Any, str]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        try:
            with urlopen(Request(url, data, headers), timeout=30) as response:
                return json.load(response), response.headers.get("Link", "")
        except HTTPError as error:
            raise AnimalStoreError(**json.load(error)) from None


if __name__ == "__main__":
    store = AnimalStore(
        os.environ.get("ANIMAL_STORE_URL", "http://127.0.0.1:3000/v1"), os.environ["ANIMAL_STORE_KEY"]
    )
    added = [store.add(f"Минька {number}", 2**53 + number, "pending") for number in range(3)]
    walked = list(store.walk(status="pending", limit=2))
    assert all(pet in walked for pet in added), walked
    try:
        store.add("", 1)
    except AnimalStoreError as error:
        print(error)
    print(f"{len(walked)} pets are pending, the last is {walked[-1]}")
