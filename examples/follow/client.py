"""Prints all pets after an id, and each later pet as soon as it is stored.

ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... python3 examples/follow/client.py [LAST_ID]
"""

import json
import os
import sys
import time
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

BASE_URL = os.environ.get("ANIMAL_STORE_URL", "http://127.0.0.1:3000/v1")
AUTHORIZATION = f"Bearer {os.environ['ANIMAL_STORE_KEY']}"


def read(last_id: int) -> tuple[list[dict[str, Any]], float]:
    """Returns the next pets, and the seconds to wait if there are none. Prints an error, and then returns no pets."""
    request = Request(f"{BASE_URL}/pets?limit=100&after={last_id}")
    # The key is not sent to another server if a proxy redirects.
    request.add_unredirected_header("Authorization", AUTHORIZATION)
    try:
        with urlopen(request, timeout=30) as response:
            found = json.load(response) if response.headers.get_content_type() == "application/json" else None
            if not isinstance(found, list):
                raise ValueError(f"status {response.status}, which the API did not send")
            return found, 1
    except HTTPError as error:
        print(error, file=sys.stderr)
        retry_after = error.headers.get("Retry-After", "")
        return [], min(float(retry_after), 60) if retry_after.isdecimal() else 1
    except (OSError, HTTPException, ValueError) as error:
        print(error, file=sys.stderr)
        return [], 1


after = int(sys.argv[1]) if len(sys.argv) > 1 else 0
while True:
    pets, wait = read(after)
    for pet in pets:
        # Store the pet together with its id.
        print(f"pet {pet['id']}: {pet['name']}", flush=True)
        after = pet["id"]
    if not pets:
        time.sleep(wait)
