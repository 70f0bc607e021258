//! Who is asking: a token, what it may do, and how fast.

use std::num::NonZeroU32;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use counterfoil_ledger::identity::KindName;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::{Problem, Shared};
use crate::store::Token;

/// Requests per second and token, with a burst.
const PER_S: NonZeroU32 = NonZeroU32::new(200).unwrap();
/// Reading operations of every kind, and orders.
const READ: &str = "operations:read";
const BURST: NonZeroU32 = NonZeroU32::new(1000).unwrap();

/// How fast each token may ask.
#[derive(Debug)]
pub struct Limits(DefaultKeyedRateLimiter<String>);

impl Default for Limits {
    fn default() -> Self {
        Self(RateLimiter::keyed(Quota::per_second(PER_S).allow_burst(BURST)))
    }
}

/// A caller that showed a token we know.
#[derive(Debug, Clone)]
pub struct Caller(pub Token);

impl Caller {
    /// # Errors
    /// 403 when the token hasn't the scope.
    pub fn may(&self, scope: &str) -> Result<(), Problem> {
        if self.0.scopes.iter().any(|held| held == scope) {
            Ok(())
        } else {
            let detail =
                format!("The token {:?} hasn't the scope {scope}. Nothing was recorded.", self.0.name);
            Err(Problem::new(StatusCode::FORBIDDEN, "scope", "The token may not do this", detail))
        }
    }

    /// # Errors
    /// 403 when the token may not write operations of the kind.
    pub fn may_write(&self, kind: &KindName) -> Result<(), Problem> {
        self.may(&format!("operations:write:{kind}"))
    }

    /// Reading one operation: `operations:read`, or the scope that writes its kind, because who asked must be able to look.
    ///
    /// # Errors
    /// 403 for others.
    pub fn may_read(&self, kind: &KindName) -> Result<(), Problem> {
        self.may_write(kind).or_else(|_| self.may(READ))
    }

    /// # Errors
    /// 403 without `operations:read`.
    pub fn may_read_all(&self) -> Result<(), Problem> {
        self.may(READ)
    }
}

impl FromRequestParts<Shared> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, Problem> {
        let unauthorized =
            |detail: &str| Problem::new(StatusCode::UNAUTHORIZED, "token", "No valid token", detail);
        let secret = parts
            .headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, secret)| secret.trim())
            .ok_or_else(|| unauthorized("Send `Authorization: Bearer` and a token. Nothing was recorded."))?;
        let token = shared
            .works
            .token(secret)
            .await?
            .ok_or_else(|| unauthorized("The ledger doesn't know this token. Nothing was recorded."))?;
        if shared.limits.0.check_key(&token.name).is_err() {
            let detail =
                "Too many requests with this token. Nothing was recorded; asking again later is safe.";
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-requests",
                "Too many requests",
                detail,
            ));
        }
        Ok(Self(token))
    }
}
