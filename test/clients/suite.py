"""Cases of one environment: each is a function that raises where the client did not get what it asked for."""

import json
import os
import time
import traceback

URL = os.environ["SVC_CLIENTS_URL"]
V1 = URL + "/v1"
CHAT = "svc-chat-tiny"
EMBED = "svc-embed-tiny"
HELLO = [{"role": "user", "content": "Hello!"}]

_cases = []


def case(client, name, pending=None):
    """Registers a case of a client; the function's own name is free. `pending` says which work it waits for: until then it may fail."""

    def register(function):
        _cases.append((client, name, function, pending))
        return function

    return register


def run():
    """One line of JSON a case, in a file of their own: some clients write to the standard output too."""
    results = open(os.environ["SVC_CLIENTS_RESULTS"], "w", encoding="utf-8")
    wanted = os.environ.get("SVC_CLIENTS_ONLY", "")
    for client, name, function, pending in _cases:
        if wanted not in f"{client}: {name}":
            continue
        started = time.monotonic()
        failure = None
        try:
            function()
        except BaseException as error:  # a client may end the program by itself
            if isinstance(error, KeyboardInterrupt):
                raise
            last = traceback.extract_tb(error.__traceback__)[-1]
            failure = f"{type(error).__name__}: {error}"[:600] + f" ({last.filename.rsplit('/', 1)[-1]}:{last.lineno})"
        seconds = round(time.monotonic() - started, 2)
        print(json.dumps({"client": client, "case": name, "seconds": seconds, "failure": failure, "pending": pending}), file=results, flush=True)
    # Tracers and pools of some clients would hold the program open.
    os._exit(0)


def equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def raises(kind, call):
    """The error of a call that must be refused with it."""
    try:
        answer = call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} expected, got {answer!r:.300}")


def valid(answer):
    """Pydantic judges the answer by the client's own type, which the client itself does not."""
    type(answer).model_validate(answer.model_dump(mode="json", by_alias=True, warnings=False))
    return answer
