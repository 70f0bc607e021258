"""The official Python SDK against the simulator.

Usage: stripe_sdk.py http://127.0.0.1:PORT

Prints one line per behaviour and stops with a traceback at the first that fails.
"""

import json
import queue
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import stripe

BASE = sys.argv[1]
SECRET = "whsec_interop"
DEADLINE_S = 10


def client(key="sk_test_interop", retries=0):
    return stripe.StripeClient(key, base_addresses={"api": BASE}, max_network_retries=retries)


def order(what, body):
    """A call of the tester's side."""
    request = urllib.request.Request(f"{BASE}/simulator/{what}", json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
        return answer.status


def effects():
    with urllib.request.urlopen(f"{BASE}/simulator/effects", timeout=DEADLINE_S) as answer:
        return json.load(answer)


def refused(error, act):
    """The error that `act` must raise."""
    try:
        act()
    except error as raised:
        return raised
    raise AssertionError(f"{error.__name__} was expected")


def done(what):
    print(f"ok {what}", flush=True)


sdk = client()

intent = sdk.v1.payment_intents.create(
    {"amount": 158000, "currency": "twd", "payment_method": "pm_card_visa", "confirm": True}
)
assert intent.status == "succeeded", intent.status
later = sdk.v1.payment_intents.create({"amount": 500, "currency": "eur"})
assert sdk.v1.payment_intents.confirm(later.id, {"payment_method": "pm_card_visa"}).status == "succeeded"
assert sdk.v1.payment_intents.retrieve(intent.id).latest_charge == intent.latest_charge
done("a payment intent is created, confirmed and retrieved")


def refund(amount, key, using=sdk):
    parameters = {
        "payment_intent": intent.id,
        "amount": amount,
        "reason": "requested_by_customer",
        "metadata": {"operation_id": key},
    }
    return using.v1.refunds.create(parameters, {"idempotency_key": key})


first = refund(38000, "shop.refund-1043-li_2")
assert first.status == "succeeded" and first.amount == 38000 and first.currency == "twd"
assert first.metadata["operation_id"] == "shop.refund-1043-li_2"
assert first.last_response.request_id.startswith("req_")
again = sdk.v1.refunds.retrieve(first.id)
assert again.id == first.id and again.charge == intent.latest_charge
assert sdk.v1.charges.retrieve(first.charge).amount_refunded == 38000
done("a refund is created and retrieved")

replay = refund(38000, "shop.refund-1043-li_2")
assert replay.id == first.id
assert replay.last_response.headers["Idempotent-Replayed"] == "true"
assert len(effects()) == 1
done("the same key replays the refund")

error = refused(stripe.IdempotencyError, lambda: refund(38001, "shop.refund-1043-li_2"))
assert error.http_status == 400
done("the same key with other parameters is an IdempotencyError")

made = [refund(100, f"shop.refund-1043-{number}").id for number in range(24)]
page = sdk.v1.refunds.list({"payment_intent": intent.id, "limit": 10})
walked = [found.id for found in page.auto_paging_iter()]
assert walked == [*reversed(made), first.id], walked
recent = sdk.v1.refunds.list({"charge": first.charge, "created": {"gte": first.created}, "limit": 100})
assert len(recent.data) == 25 and not recent.has_more
assert [charge.id for charge in sdk.v1.charges.list({"payment_intent": intent.id}).data] == [first.charge]
done("an auto-paged list finds every refund once, newest first")

error = refused(stripe.InvalidRequestError, lambda: refund(1_000_000, "shop.too-much"))
assert (error.code, error.param) == ("amount_too_large", "amount")
error = refused(stripe.InvalidRequestError, lambda: sdk.v1.refunds.retrieve("re_nobody"))
assert (error.http_status, error.code) == (404, "resource_missing")
refused(stripe.AuthenticationError, lambda: client("pk_test_public").v1.refunds.list())
order("faults", {"answer": "429_named"})
error = refused(stripe.RateLimitError, sdk.v1.refunds.list)
assert error.json_body["error"]["code"] == "rate_limit"
done("refusals arrive as the SDK's own errors")

before = len(effects())
order("faults", {"match": {"method": "POST"}, "effect": "applied", "answer": "drop"})
refused(stripe.APIConnectionError, lambda: refund(7, "shop.lost"))
order("faults", {"match": {"method": "POST"}, "effect": "applied", "answer": "drop"})
found = refund(8, "shop.lost-and-found", client(retries=1))
assert found.last_response.headers["Idempotent-Replayed"] == "true"
assert len(effects()) == before + 2
done("a lost answer is a connection error, and the SDK's own retry is replayed")


class Receiver(BaseHTTPRequestHandler):
    taken = queue.Queue()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.taken.put((body, self.headers["Stripe-Signature"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
order("webhooks", {"url": f"http://127.0.0.1:{server.server_port}/", "secret": SECRET})
told = refund(9, "shop.told")
order(f"refunds/{told.id}", {"status": "failed", "failure_reason": "declined"})
events = {}
for _ in range(4):
    body, signature = Receiver.taken.get(timeout=DEADLINE_S)
    event = sdk.construct_event(body, signature, SECRET)
    events[event.type] = event
    refused(stripe.SignatureVerificationError, lambda: sdk.construct_event(body + b" ", signature, SECRET))
    refused(stripe.SignatureVerificationError, lambda: sdk.construct_event(body, signature, "whsec_other"))
assert set(events) == {"refund.created", "charge.refunded", "refund.updated", "refund.failed"}, set(events)
assert events["refund.failed"].data.object["failure_reason"] == "declined"
assert events["charge.refunded"].data.object["id"] == intent.latest_charge
server.shutdown()
done("webhooks pass the SDK's signature check, tampered ones don't")
