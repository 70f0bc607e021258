// The official Node SDK against the simulator.
//
// Usage: node stripe_sdk.mjs http://127.0.0.1:PORT DIRECTORY, where DIRECTORY holds node_modules.
//
// Prints one line per behaviour and stops with a stack trace at the first that fails.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [base, installed] = process.argv.slice(2);
const loaded = createRequire(`${installed}/`)('stripe');
const Stripe = loaded.default ?? loaded;
const secret = 'whsec_interop';
const deadlineMs = 10_000;

const { hostname: host, port } = new URL(base);
const client = (key = 'sk_test_interop', maxNetworkRetries = 0) =>
  new Stripe(key, { protocol: 'http', host, port, maxNetworkRetries, telemetry: false });

/** A call of the tester's side. */
async function order(what, body) {
  const options = { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(deadlineMs) };
  const answer = await fetch(`${base}/simulator/${what}`, options);
  assert.ok(answer.ok, `${what}: ${answer.status}`);
}

async function effects() {
  return (await fetch(`${base}/simulator/effects`, { signal: AbortSignal.timeout(deadlineMs) })).json();
}

/** The error that `act` must end in. */
async function refused(type, act) {
  try {
    await act();
  } catch (error) {
    assert.equal(error.type, type, error.message);
    return error;
  }
  return assert.fail(`${type} was expected`);
}

const done = (what) => console.log(`ok ${what}`);
const sdk = client();

const intent = await sdk.paymentIntents.create({
  amount: 158000,
  currency: 'twd',
  payment_method: 'pm_card_visa',
  confirm: true,
});
assert.equal(intent.status, 'succeeded');
const later = await sdk.paymentIntents.create({ amount: 500, currency: 'eur' });
const confirmed = await sdk.paymentIntents.confirm(later.id, { payment_method: 'pm_card_visa' });
assert.equal(confirmed.status, 'succeeded');
assert.equal((await sdk.paymentIntents.retrieve(intent.id)).latest_charge, intent.latest_charge);
done('a payment intent is created, confirmed and retrieved');

const refund = (amount, key, using = sdk) =>
  using.refunds.create(
    {
      payment_intent: intent.id,
      amount,
      reason: 'requested_by_customer',
      metadata: { operation_id: key },
    },
    { idempotencyKey: key },
  );

const first = await refund(38000, 'shop.refund-1043-li_2');
assert.deepEqual([first.status, first.amount, first.currency], ['succeeded', 38000, 'twd']);
assert.equal(first.metadata.operation_id, 'shop.refund-1043-li_2');
assert.match(first.lastResponse.requestId, /^req_/);
const again = await sdk.refunds.retrieve(first.id);
assert.deepEqual([again.id, again.charge], [first.id, intent.latest_charge]);
assert.equal((await sdk.charges.retrieve(first.charge)).amount_refunded, 38000);
done('a refund is created and retrieved');

const replay = await refund(38000, 'shop.refund-1043-li_2');
assert.equal(replay.id, first.id);
assert.equal(replay.lastResponse.headers['idempotent-replayed'], 'true');
assert.equal((await effects()).length, 1);
done('the same key replays the refund');

const mismatch = await refused('StripeIdempotencyError', () => refund(38001, 'shop.refund-1043-li_2'));
assert.equal(mismatch.statusCode, 400);
done('the same key with other parameters is a StripeIdempotencyError');

const made = [];
for (let number = 0; number < 24; number += 1) {
  made.push((await refund(100, `shop.refund-1043-${number}`)).id);
}
const walked = await sdk.refunds
  .list({ payment_intent: intent.id, limit: 10 })
  .autoPagingToArray({ limit: 1000 });
assert.deepEqual(walked.map((found) => found.id), [...made.reverse(), first.id]);
const recent = await sdk.refunds.list({ charge: first.charge, created: { gte: first.created }, limit: 100 });
assert.deepEqual([recent.data.length, recent.has_more], [25, false]);
const charges = await sdk.charges.list({ payment_intent: intent.id });
assert.deepEqual(charges.data.map((charge) => charge.id), [first.charge]);
done('an auto-paged list finds every refund once, newest first');

const tooMuch = await refused('StripeInvalidRequestError', () => refund(1_000_000, 'shop.too-much'));
assert.deepEqual([tooMuch.code, tooMuch.param], ['amount_too_large', 'amount']);
const nobody = await refused('StripeInvalidRequestError', () => sdk.refunds.retrieve('re_nobody'));
assert.deepEqual([nobody.statusCode, nobody.code], [404, 'resource_missing']);
await refused('StripeAuthenticationError', () => client('pk_test_public').refunds.list());
await order('faults', { answer: '429_named' });
assert.equal((await refused('StripeRateLimitError', () => sdk.refunds.list())).code, 'rate_limit');
done("refusals arrive as the SDK's own errors");

const before = (await effects()).length;
// Told not to retry, this SDK still does so once if the connection was closed: it takes the socket for a stale one.
await order('faults', { match: { method: 'POST' }, effect: 'applied', answer: 'drop', times: 2 });
await refused('StripeConnectionError', () => refund(7, 'shop.lost'));
await order('faults', { match: { method: 'POST' }, effect: 'applied', answer: 'drop' });
const found = await refund(8, 'shop.lost-and-found', client('sk_test_interop', 1));
assert.equal(found.lastResponse.headers['idempotent-replayed'], 'true');
assert.equal((await effects()).length, before + 2);
done("a lost answer is a connection error, and the SDK's own retry is replayed");

const taken = [];
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  taken.push([Buffer.concat(parts), request.headers['stripe-signature']]);
  response.end();
  server.emit('taken');
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
await order('webhooks', { url: `http://127.0.0.1:${server.address().port}/`, secret });
const told = await refund(9, 'shop.told');
await order(`refunds/${told.id}`, { status: 'failed', failure_reason: 'declined' });
const deadline = AbortSignal.timeout(deadlineMs);
while (taken.length < 4) await once(server, 'taken', { signal: deadline });
const events = new Map();
for (const [body, signature] of taken) {
  const event = sdk.webhooks.constructEvent(body, signature, secret);
  events.set(event.type, event);
  const tampered = Buffer.concat([body, Buffer.from(' ')]);
  for (const [text, key] of [[tampered, secret], [body, 'whsec_other']]) {
    await refused('StripeSignatureVerificationError', async () => {
      sdk.webhooks.constructEvent(text, signature, key);
    });
  }
}
assert.deepEqual([...events.keys()].sort(), [
  'charge.refunded',
  'refund.created',
  'refund.failed',
  'refund.updated',
]);
assert.equal(events.get('refund.failed').data.object.failure_reason, 'declined');
assert.equal(events.get('charge.refunded').data.object.id, intent.latest_charge);
server.close();
done("webhooks pass the SDK's signature check, tampered ones don't");
