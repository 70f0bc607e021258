//! Faults: what goes wrong with single requests, and which requests those are.
//!
//! A fault has two sides that don't depend on each other: what happens at the provider (`effect`) and what the caller sees of
//! it (`answer`).
//!
//! Every fault counts the requests that match its fields, whichever fault answers them. Without `nth` it answers the next
//! `times` of them that no earlier fault takes; with `nth` exactly those with the numbers `nth` to `nth + times - 1`.

use serde::{Deserialize, Serialize};

use super::refund::without_namespace;

/// What happens at the provider. Left out, it is `applied` for the answers that come (or get lost) behind the endpoint: `ok`,
/// `drop`, `hang`, `truncated`, `html`, `wrong_body`; and `none` for those that come instead of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happens {
    /// The endpoint executes; its result is kept under the key, as if nothing had gone wrong.
    Applied,
    /// The endpoint never begins: no effect, no key.
    None,
    /// The endpoint begins now and executes after `after_ms`; until then the key is in flight.
    Late,
    /// The endpoint executes, and the refund is made a second time, beyond what remains if need be.
    Twice,
}

/// What the caller sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The true answer; with a late effect, once that has happened; without effect, the answer that would have come.
    #[default]
    Ok,
    /// The connection is closed without a byte.
    Drop,
    /// Nothing until the caller goes; with `after_ms`, unless the effect is late, the true answer after that.
    Hang,
    /// The connection is reset at once. Goes with no effect only.
    ResetBefore,
    /// A 500 that isn't stored, nor is anything else: the key stays free even if the effect was applied.
    #[serde(rename = "500")]
    Broken,
    /// A 500 that is stored under the key, if the key is new, and replayed from then on.
    #[serde(rename = "500_stored")]
    BrokenStored,
    /// A 429 that doesn't say why.
    #[serde(rename = "429")]
    TooMany,
    /// A 429 that names the rate limit.
    #[serde(rename = "429_named")]
    TooManyNamed,
    /// A key that isn't valid.
    #[serde(rename = "401")]
    Unauthorized,
    /// A request with the same key in flight.
    #[serde(rename = "409")]
    InFlight,
    /// Half the body of the true answer, then the connection is closed.
    Truncated,
    /// A proxy's 502 page without `Request-Id`.
    Html,
    /// A 200 with JSON that isn't what was asked for.
    WrongBody,
}

/// Which requests a fault is for; a field left out matches all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matching {
    /// `GET` or `POST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The path without its query, exact, or what it begins with, followed by `*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The payment, by its number or its charge's, whichever the request names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// `metadata.operation_id`, with or without its namespace; of the refund in question for a read by number. A list
    /// has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation_id: Option<String>,
    /// The how manieth request that matches the other fields, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
}

/// One fault, as `POST /simulator/faults` orders it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Which requests it is for.
    #[serde(rename = "match", default)]
    pub matching: Matching,
    /// What happens at the provider; reads have no effect, whatever stands here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Happens>,
    /// What the caller sees.
    #[serde(default)]
    pub answer: Answer,
    /// For the effect `late` and the answer `hang`, on the simulator's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_ms: Option<u64>,
    /// How many requests it answers.
    #[serde(default = "once")]
    pub times: u32,
}

fn once() -> u32 {
    1
}

impl Default for Fault {
    /// Answers one request, any, as if there were no fault.
    fn default() -> Self {
        Self {
            matching: Matching::default(),
            effect: None,
            answer: Answer::default(),
            after_ms: None,
            times: once(),
        }
    }
}

impl Fault {
    /// What happens at the provider.
    pub(super) fn happens(&self) -> Happens {
        self.effect.unwrap_or(match self.answer {
            Answer::Ok
            | Answer::Drop
            | Answer::Hang
            | Answer::Truncated
            | Answer::Html
            | Answer::WrongBody => Happens::Applied,
            Answer::ResetBefore
            | Answer::Broken
            | Answer::BrokenStored
            | Answer::TooMany
            | Answer::TooManyNamed
            | Answer::Unauthorized
            | Answer::InFlight => Happens::None,
        })
    }

    /// Refuses what contradicts itself.
    pub(super) fn check(&self) -> Result<(), String> {
        let late = self.happens() == Happens::Late;
        if late && self.after_ms.is_none() {
            return Err("effect \"late\" needs after_ms".to_owned());
        }
        if self.after_ms.is_some() && !late && self.answer != Answer::Hang {
            return Err("after_ms goes with effect \"late\" or answer \"hang\"".to_owned());
        }
        if self.answer == Answer::ResetBefore && self.happens() != Happens::None {
            return Err("answer \"reset_before\" comes before any effect".to_owned());
        }
        if self.times == 0 || self.matching.nth == Some(0) {
            return Err("times and nth count from 1".to_owned());
        }
        Ok(())
    }
}

/// What a fault may look at.
#[derive(Clone, Debug, Default)]
pub(super) struct Traits {
    pub(super) method: String,
    pub(super) path: String,
    /// Every number that means the payment in question.
    pub(super) targets: Vec<String>,
    pub(super) marker: Option<String>,
}

impl Matching {
    fn covers(&self, request: &Traits) -> bool {
        let method = self.method.as_ref().is_none_or(|method| method.eq_ignore_ascii_case(&request.method));
        let path = self.path.as_ref().is_none_or(|path| match path.strip_suffix('*') {
            Some(beginning) => request.path.starts_with(beginning),
            None => request.path == *path,
        });
        let target = self.target.as_ref().is_none_or(|target| request.targets.contains(target));
        let operation = self.operation_id.as_ref().is_none_or(|wanted| {
            request
                .marker
                .as_ref()
                .is_some_and(|marker| marker == wanted || without_namespace(marker) == wanted)
        });
        method && path && target && operation
    }
}

/// The faults in order of arrival.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Waiting>);

#[derive(Debug)]
struct Waiting {
    fault: Fault,
    seen: u32,
    answered: u32,
}

impl Waiting {
    fn is_due(&self) -> bool {
        let times = self.fault.times;
        match self.fault.matching.nth {
            Some(nth) => self.seen >= nth && self.seen - nth < times,
            None => self.answered < times,
        }
    }
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.0.push(Waiting { fault, seen: 0, answered: 0 });
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The fault that this request meets, if any.
    pub(super) fn meet(&mut self, request: &Traits) -> Option<Fault> {
        let mut met = None;
        for waiting in self.0.iter_mut().filter(|waiting| waiting.fault.matching.covers(request)) {
            waiting.seen = waiting.seen.saturating_add(1);
            if met.is_none() && waiting.is_due() {
                waiting.answered += 1;
                met = Some(waiting.fault.clone());
            }
        }
        met
    }
}
