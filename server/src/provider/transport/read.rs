//! Reads, which may be tried again: three tries, then the read is *unavailable*, and says so.

use std::time::{Duration, Instant};

use counterfoil_ledger::evidence::Unavailable;
use reqwest::Url;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::time::{sleep, timeout_at};

use super::{Answered, READ_ANSWER_BYTES_MAX, Transport, answered, chain};

/// A request that changes nothing.
#[derive(Debug, Clone)]
pub struct Question {
    pub url: Url,
    pub headers: HeaderMap,
}

/// How often a read is tried, and how long it rests between tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadBudget {
    /// At least 1.
    pub tries: u32,
    /// Doubles after each try.
    pub first_wait: Duration,
    pub longest_wait: Duration,
}

impl Default for ReadBudget {
    fn default() -> Self {
        Self { tries: 3, first_wait: Duration::from_millis(250), longest_wait: Duration::from_secs(1) }
    }
}

impl ReadBudget {
    /// How long to rest after the `tried`-th try.
    fn wait_after(&self, tried: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(tried.saturating_sub(1));
        self.first_wait.saturating_mul(doubled).min(self.longest_wait)
    }
}

/// What a read brought.
#[derive(Debug, Clone)]
pub struct ReadOutcome<T> {
    pub result: Result<T, Unavailable>,
    /// Tries that failed and were followed by another.
    pub retries: u32,
    /// Of the last answer, if there was one.
    pub http_status: Option<u16>,
    pub provider_request_id: Option<String>,
}

/// One try.
struct Try<T> {
    result: Result<T, Unavailable>,
    answer: Option<Answered>,
}

impl Transport {
    /// Reads, within the budget and not past `deadline`. `understand` says whether the body of a 200 is what was asked for.
    pub async fn read<T>(
        &self,
        question: &Question,
        deadline: Instant,
        understand: impl Fn(&[u8]) -> Option<T>,
    ) -> ReadOutcome<T> {
        let budget = self.reach.read_budget;
        let mut tried = 0;
        loop {
            let begun = Instant::now();
            let this =
                self.try_read(question, deadline.min(begun + self.reach.read_timeout), &understand).await;
            tried += 1;
            let http_status = this.answer.as_ref().map(|answer| answer.status);
            let request_id =
                this.answer.as_ref().and_then(|answer| answer.header(self.reach.request_id_header));
            let asked = asked_to_wait(this.answer.as_ref());
            let wait = budget.wait_after(tried).max(asked);
            tracing::debug!(
                path = question.url.path(),
                tried,
                tries_max = budget.tries,
                http_status,
                provider_request_id = request_id,
                unavailable = this.result.as_ref().err().map(tracing::field::debug),
                duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
                "A read was tried."
            );
            let outcome = |result| ReadOutcome {
                result,
                retries: tried - 1,
                http_status,
                provider_request_id: request_id.map(str::to_owned),
            };
            let why = match this.result {
                Ok(value) => return outcome(Ok(value)),
                Err(why) => why,
            };
            let again = tried < budget.tries
                && worth_trying_again(why)
                && asked <= budget.longest_wait
                && Instant::now() + wait < deadline;
            if !again {
                tracing::warn!(
                    path = question.url.path(),
                    tried,
                    http_status,
                    provider_request_id = request_id,
                    unavailable = ?why,
                    "A read failed and isn't tried again now; it says nothing about what was asked."
                );
                return outcome(Err(why));
            }
            sleep(wait).await;
        }
    }

    async fn try_read<T>(
        &self,
        question: &Question,
        deadline: Instant,
        understand: impl Fn(&[u8]) -> Option<T>,
    ) -> Try<T> {
        let failed = |why| Try { result: Err(why), answer: None };
        let asked = timeout_at(deadline.into(), async {
            self.pace().await;
            self.reader.get(question.url.clone()).headers(question.headers.clone()).send().await
        })
        .await;
        let response = match asked {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                tracing::debug!(error = chain(&error), "A read ended without an answer.");
                return failed(if error.is_connect() {
                    Unavailable::NotConnected
                } else {
                    Unavailable::NoAnswer
                });
            }
            Err(_) => return failed(Unavailable::NoAnswer),
        };
        let answer = answered(response, deadline, READ_ANSWER_BYTES_MAX).await;
        let result = match answer.status {
            200 if answer.whole => understand(&answer.body).ok_or(Unavailable::NotWellFormed),
            200 => Err(Unavailable::NotWellFormed),
            401 => Err(Unavailable::Unauthorized),
            403 => Err(Unavailable::Forbidden),
            404 => Err(Unavailable::NotFound),
            429 => Err(Unavailable::RateLimited),
            500..=599 => Err(Unavailable::ServerError),
            _ => Err(Unavailable::UnexpectedStatus),
        };
        Try { result, answer: Some(answer) }
    }
}

/// Whether the next try may well go better. Credentials and addresses don't mend themselves in a second.
fn worth_trying_again(why: Unavailable) -> bool {
    match why {
        Unavailable::NotConnected
        | Unavailable::NoAnswer
        | Unavailable::RateLimited
        | Unavailable::ServerError
        | Unavailable::NotWellFormed => true,
        Unavailable::Unauthorized
        | Unavailable::Forbidden
        | Unavailable::NotFound
        | Unavailable::UnexpectedStatus
        | Unavailable::AccountDown => false,
    }
}

/// How long the provider asked us to stay away.
fn asked_to_wait(answer: Option<&Answered>) -> Duration {
    let seconds = answer.and_then(|answer| answer.header(RETRY_AFTER.as_str())?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_rests_a_quarter_second_then_doubles_to_a_second() {
        let budget = ReadBudget::default();
        let waits: Vec<u128> = (1..=4).map(|tried| budget.wait_after(tried).as_millis()).collect();
        assert_eq!((budget.tries, waits), (3, vec![250, 500, 1000, 1000]));
    }
}
