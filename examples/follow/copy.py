"""Keeps an exact copy of all pets in a SQLite file: through changes, removals, its own restarts, and restores of the server.

The server needs EXPERIMENTAL=on. You can end the program at any time: later it continues where it was.

ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... python3 examples/follow/copy.py [FILE]
"""

import json
import os
import re
import sqlite3
import sys
import time
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote
from urllib.request import Request, urlopen

BASE_URL = os.environ.get("ANIMAL_STORE_URL", "http://127.0.0.1:3000/v1")
AUTHORIZATION = f"Bearer {os.environ['ANIMAL_STORE_KEY']}"

copy = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "copy.db")
copy.execute("CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, json TEXT NOT NULL)")
copy.execute("CREATE TABLE IF NOT EXISTS position (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), cursor TEXT NOT NULL)")


def read(after: str | None) -> tuple[list[dict[str, Any]], str | None]:
    """Returns the changes after a cursor, and the cursor of the next page if more follow."""
    query = "" if after is None else f"&after={quote(after, safe='')}"
    request = Request(f"{BASE_URL}/changes?limit=100{query}")
    # The key is not sent to another server if a proxy redirects.
    request.add_unredirected_header("Authorization", AUTHORIZATION)
    with urlopen(request, timeout=30) as response:
        changes = json.load(response) if response.headers.get_content_type() == "application/json" else None
        if not isinstance(changes, list):
            raise ValueError(f"status {response.status}, which the API did not send")
        # A page can be empty although more follow. Then only the link has the next cursor.
        link = re.search(r'<[^>]*[?&]after=([^&>]*)[^>]*>; *rel="next"', response.headers.get("Link", ""))
        return changes, link and unquote(link[1])


def store(changes: list[dict[str, Any]], cursor: str) -> None:
    """Stores changes and their last cursor in one transaction, so that a crash leaves both or neither."""
    with copy:
        for change in changes:
            if "removed" in change:
                copy.execute("DELETE FROM pets WHERE id = ?", (change["removed"],))
            else:
                pet = change["pet"]
                text = json.dumps(pet, ensure_ascii=False, separators=(",", ":"))
                copy.execute("INSERT OR REPLACE INTO pets VALUES (?, ?)", (pet["id"], text))
        copy.execute("INSERT OR REPLACE INTO position VALUES (1, ?)", (cursor,))


def begin_again() -> None:
    """Removes the copy and its cursor: the server was restored, and may have forgotten pets that the copy has."""
    with copy:
        copy.execute("DELETE FROM pets")
        copy.execute("DELETE FROM position")


def code_of(error: HTTPError) -> str | None:
    """Returns the code of an error of the API."""
    try:
        return json.load(error)["code"]
    except (ValueError, KeyError, TypeError):
        return None


while True:
    (position,) = copy.execute("SELECT cursor FROM position").fetchone() or (None,)
    wait = 1.0
    try:
        changes, following = read(position)
        cursor = following or (changes[-1]["cursor"] if changes else None)
        if cursor is not None:
            store(changes, cursor)
        if following is not None:
            continue
    except HTTPError as error:
        print(error, file=sys.stderr)
        if code_of(error) == "restart_required":
            begin_again()
        retry_after = error.headers.get("Retry-After", "")
        wait = min(float(retry_after), 60) if retry_after.isdecimal() else wait
    except (OSError, HTTPException, ValueError) as error:
        print(error, file=sys.stderr)
    time.sleep(wait)
