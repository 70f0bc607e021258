//! The provider's side of HTTP: a request is taken apart, and its delivery carried out on the connection.

use std::future;

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{OriginalUri, State},
    http::{HeaderMap, Method, Response, header},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use futures::{StreamExt, stream};

use super::{
    Seen, Simulator,
    account::new_number,
    connection::{Cut, Knife},
    exchange::Delivery,
    parameters::Parameters,
    provider::Call,
    wire::{Refusal, Reply, Text},
};

/// Answers everything that isn't the tester's.
pub(super) async fn answer(
    State(simulator): State<Simulator>,
    Extension(knife): Extension<Knife>,
    method: Method,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let request_id = new_number("req_");
    let key = text(&headers, "idempotency-key");
    let call = Call {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: Parameters::decode(uri.query().unwrap_or_default().as_bytes()),
        form: form(&headers, &body),
        key: key.clone(),
        secret: secret(&headers),
        request_id: request_id.clone(),
    };
    let delivery = {
        let mut state = simulator.state();
        let now = state.clock.now();
        state.requests.push(Seen {
            method: method.to_string(),
            path: uri.path_and_query().map_or_else(|| uri.path().to_owned(), ToString::to_string),
            key: key.clone(),
            request_id: text(&headers, "x-client-request-id"),
            body: String::from_utf8_lossy(&body).into_owned(),
            at: now,
        });
        state.exchange(&call, now)
    };
    simulator.stir();
    let stamp = |reply: Reply| match reply.body {
        Text::Html(_) => reply,
        Text::Json(_) => {
            let reply = reply.with("request-id", request_id).with("stripe-version", super::API_VERSION);
            key.iter().fold(reply, |reply, key| reply.with("idempotency-key", key))
        }
    };
    match delivery {
        Delivery::Answer(reply) => whole(&stamp(reply)),
        Delivery::AnswerAt(due, reply) => {
            simulator.reach(due).await;
            whole(&stamp(reply))
        }
        Delivery::AnswerWhenDone(done) => match done.await {
            Ok(reply) => whole(&stamp(reply)),
            Err(_forgotten) => end(&knife, Cut::Close).await,
        },
        Delivery::Truncate(reply) => half(&stamp(reply), knife),
        Delivery::Hang => future::pending().await,
        Delivery::Close => end(&knife, Cut::Close).await,
        Delivery::Reset => end(&knife, Cut::Reset).await,
    }
}

fn whole(reply: &Reply) -> Response<Body> {
    reply.respond(Body::from(reply.bytes()))
}

/// Announces the whole body, sends half of it, and cuts the connection.
fn half(reply: &Reply, knife: Knife) -> Response<Body> {
    let bytes = reply.bytes();
    let length = bytes.len();
    let beginning = Bytes::copy_from_slice(bytes.get(..length / 2).unwrap_or_default());
    let cut = stream::once(async move { end::<Result<Bytes, std::io::Error>>(&knife, Cut::Close).await });
    let body = stream::once(future::ready(Ok(beginning))).chain(cut);
    let mut response = reply.respond(Body::from_stream(body));
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    response
}

/// Cuts the connection, which ends this future too.
async fn end<T>(knife: &Knife, how: Cut) -> T {
    knife.cut(how);
    future::pending().await
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

fn form(headers: &HeaderMap, body: &[u8]) -> Result<Parameters, Refusal> {
    let kind = text(headers, "content-type").unwrap_or_default();
    if !body.is_empty() && !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(Refusal::invalid("The body must be application/x-www-form-urlencoded"));
    }
    Parameters::decode(body)
}

/// The account's secret key: a bearer token, or the user name of basic authentication.
fn secret(headers: &HeaderMap) -> Option<String> {
    let value = text(headers, "authorization")?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(BASE64_STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split(':').next().map(str::to_owned)
}
