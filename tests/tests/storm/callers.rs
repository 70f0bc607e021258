//! Those who ask, often more than once, and remember every answer.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_tests::{Api, Ledger, Shop, refund_of};
use fastrand::Rng;
use reqwest::Method;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::proof::Proof;

const CALLERS: usize = 8;
const LINES: usize = 20;

/// An operation: its order and line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wanted {
    pub order: String,
    pub line: String,
}

impl Wanted {
    pub fn id(&self) -> String {
        format!("refund-{}-{}", self.order, self.line)
    }
}

/// What was said of each operation: the status, or 0 for a connection that broke.
type Answers = Arc<Mutex<BTreeMap<Wanted, Vec<(u16, String)>>>>;

/// Callers at work.
pub struct Callers {
    tasks: JoinSet<()>,
    servers: watch::Sender<Vec<Api>>,
    busy: Arc<AtomicUsize>,
    answers: Answers,
}

/// The orders, and whether less was captured than their lines add up to.
async fn open_shop(shop: &Shop, count: usize) -> Vec<Wanted> {
    let lines: Vec<(String, String)> =
        (0..LINES).map(|number| (format!("li_{number}"), format!("{}", 100 + number))).collect();
    let priced: Vec<(&str, &str)> = lines.iter().map(|(id, amount)| (id.as_str(), amount.as_str())).collect();
    let all: usize = (0..LINES).map(|number| 100 + number).sum();
    let mut wanted = Vec::with_capacity(count);
    for order in 0..count.div_ceil(LINES) {
        let captured = if order % 4 == 0 { all * 3 / 5 } else { all };
        let id = format!("s{order}");
        shop.sells(&id, &captured.to_string(), "TWD", &priced).await;
        wanted.extend(lines.iter().map(|(line, _)| Wanted { order: id.clone(), line: line.clone() }));
    }
    wanted.truncate(count);
    wanted
}

impl Callers {
    /// Opens the shop and sends the callers in, each with its own part of all asks, one to three per operation.
    pub async fn start(shop: &Shop, count: usize, rng: &mut Rng) -> Self {
        let wanted = open_shop(shop, count).await;
        let answers: Answers =
            Arc::new(Mutex::new(wanted.iter().cloned().map(|wanted| (wanted, Vec::new())).collect()));
        let mut asks = Vec::new();
        for wanted in wanted {
            asks.extend(std::iter::repeat_n(wanted, rng.usize(1..=3)));
        }
        rng.shuffle(&mut asks);
        let servers = watch::channel(Self::servers(&shop.ledger)).0;
        let busy = Arc::new(AtomicUsize::new(CALLERS));
        let mut tasks = JoinSet::new();
        for part in asks.chunks(asks.len().div_ceil(CALLERS)) {
            let (part, rng, busy) = (part.to_vec(), rng.fork(), Arc::clone(&busy));
            let (servers, answers) = (servers.subscribe(), Arc::clone(&answers));
            tasks.spawn(async move {
                ask_all(part, rng, servers, answers).await;
                busy.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Self { tasks, servers, busy, answers }
    }

    fn servers(ledger: &Ledger) -> Vec<Api> {
        (0..ledger.servers()).map(|number| ledger.of_server(number)).collect()
    }

    /// A server came back, at another address.
    pub fn are_told_of(&self, ledger: &Ledger) {
        self.servers.send_replace(Self::servers(ledger));
    }

    pub fn are_done(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }

    /// Waits until everybody has asked everything.
    pub async fn finish(mut self) -> AllAnswers {
        while let Some(done) = self.tasks.join_next().await {
            done.unwrap();
        }
        AllAnswers(std::mem::take(&mut self.answers.lock().unwrap()))
    }
}

async fn ask_all(part: Vec<Wanted>, mut rng: Rng, servers: watch::Receiver<Vec<Api>>, answers: Answers) {
    for wanted in part {
        let api = {
            let servers = servers.borrow();
            servers[rng.usize(0..servers.len())].clone()
        };
        let body = refund_of(&wanted.order, &wanted.line).to_string();
        let wait = [("prefer", if rng.u8(0..10) == 0 { "wait=1" } else { "wait=0" })];
        let answer = match api.try_call(Method::POST, "/v1/operations", &wait, Some(body)).await {
            Ok(reply) => (reply.status, reply.body["type"].as_str().unwrap_or_default().to_owned()),
            Err(_) => {
                // The server is dying: others ask meanwhile.
                tokio::time::sleep(Duration::from_millis(50)).await;
                (0, String::new())
            }
        };
        answers.lock().unwrap().get_mut(&wanted).unwrap().push(answer);
        let path = format!("/v1/operations/{}", wanted.id());
        match rng.u8(0..40) {
            0 => {
                drop(api.try_call(Method::POST, &format!("{path}/cancel"), &[], Some("{}".to_owned())).await)
            }
            1 => {
                drop(api.try_call(Method::POST, &format!("{path}/lookup"), &[], Some("{}".to_owned())).await)
            }
            2 => drop(api.try_call(Method::GET, &path, &[], None).await),
            _ => {}
        }
    }
}

/// Everything that was answered.
pub struct AllAnswers(BTreeMap<Wanted, Vec<(u16, String)>>);

impl AllAnswers {
    pub fn summary(&self) -> String {
        let mut counts: BTreeMap<(u16, &str), usize> = BTreeMap::new();
        for (status, kind) in self.0.values().flatten() {
            *counts.entry((*status, kind.rsplit(':').next().unwrap_or_default())).or_default() += 1;
        }
        format!("answers {counts:?}")
    }

    /// Whoever heard nothing good asks again, as it is told to.
    pub async fn ask_what_is_open_again(&self, shop: &Shop) {
        for (wanted, answers) in &self.0 {
            if !answers.iter().any(|(status, _)| (200..300).contains(status)) {
                let reply = shop.ledger.refund_at_once(&wanted.order, &wanted.line).await;
                let full = reply.status == 409 && reply.text.contains("exceeds-refundable");
                assert!(full || [200, 201, 202].contains(&reply.status), "{}: {}", wanted.id(), reply.text);
            }
        }
    }

    /// What was answered is there, and every answer was a known one.
    pub fn none_is_lost(&self, proof: &Proof) {
        for (wanted, answers) in &self.0 {
            for (status, kind) in answers {
                let known = matches!(status, 0 | 200..=202 | 429 | 503)
                    || (*status == 409 && kind == "urn:counterfoil:exceeds-refundable");
                assert!(known, "{}: {status} {kind}", wanted.id());
            }
            if answers.iter().any(|(status, _)| (200..300).contains(status)) {
                assert!(proof.has(&wanted.id()), "{} was answered with {answers:?} and is lost", wanted.id());
            }
        }
    }
}
