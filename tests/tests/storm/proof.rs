//! What must be true when everything rests.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use counterfoil_tests::{Database, Shop, until};
use serde_json::Value;

use crate::{ESCALATE_AFTER_S, MAX_RESENDS};

/// One operation's row.
struct Row {
    state: String,
    external_id: String,
}

/// The ledger and the provider, side by side.
pub struct Proof {
    rows: BTreeMap<String, Row>,
    /// By operation.
    effects: BTreeMap<String, Vec<Value>>,
    /// Of operations with a person: their history, `type at body`.
    histories: BTreeMap<String, Vec<(String, i64, String)>>,
}

impl Proof {
    /// Waits until nothing is open any more, and asks once more about what went to a person.
    pub async fn settle(shop: &Shop, give_up_at: Instant) -> Self {
        let mut database = shop.ledger.database().await;
        let open = "SELECT count(*) FROM operations WHERE state IN ('authorized', 'submitted', 'unknown', 'pending')";
        loop {
            let left = database.number(open).await;
            if left == 0 {
                break;
            }
            if Instant::now() > give_up_at {
                let rows = database
                    .texts(
                        "SELECT id || ' ' || state || ' ' || reason || ' ' || COALESCE(lease_token, '-') FROM operations \
                         WHERE state IN ('authorized', 'submitted', 'unknown', 'pending') ORDER BY ordinal LIMIT 10",
                    )
                    .await;
                panic!("{left} operations don't settle: {rows:#?}");
            }
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        let mut effects: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for effect in shop.provider.effects().await {
            effects.entry(effect["operation_id"].as_str().unwrap().to_owned()).or_default().push(effect);
        }
        // With a person because the look-up was in doubt at the time; now it isn't.
        let with_person = "SELECT id FROM operations WHERE state = 'escalated'";
        until("what exists is found", async || {
            let mut missed = database.texts(with_person).await;
            missed.retain(|id| effects.contains_key(id));
            for id in &missed {
                shop.ledger.look_up(id).await;
            }
            if missed.is_empty() { Ok(()) } else { Err(format!("{} aren't", missed.len())) }
        })
        .await;
        let mut rows = BTreeMap::new();
        for line in database
            .texts("SELECT id || ' ' || state || ' ' || COALESCE(external_id, '') FROM operations")
            .await
        {
            let mut words = line.splitn(3, ' ').map(str::to_owned);
            let id = words.next().unwrap();
            rows.insert(id, Row { state: words.next().unwrap(), external_id: words.next().unwrap() });
        }
        let mut histories = BTreeMap::new();
        for id in database.texts(with_person).await {
            let history = history(&mut database, &id).await;
            histories.insert(id, history);
        }
        Self { rows, effects, histories }
    }

    pub fn summary(&self) -> String {
        let mut states: BTreeMap<&str, usize> = BTreeMap::new();
        for row in self.rows.values() {
            *states.entry(&row.state).or_default() += 1;
        }
        format!("{} operations, {} effects, {states:?}", self.rows.len(), self.effects.len())
    }

    pub fn has(&self, id: &str) -> bool {
        self.rows.contains_key(id)
    }

    pub fn no_effect_is_doubled_and_every_state_is_true(&self) {
        for (id, effects) in &self.effects {
            assert_eq!(effects.len(), 1, "{id} was done {} times: {effects:#?}", effects.len());
            let row = self.rows.get(id).unwrap_or_else(|| panic!("{id} was done, and isn't in the ledger"));
            assert_eq!(row.state, "confirmed", "{id} was done");
            assert_eq!(row.external_id, effects[0]["external_id"], "{id}");
        }
        for (id, row) in self.rows.iter().filter(|(id, _)| !self.effects.contains_key(*id)) {
            match row.state.as_str() {
                "cancelled" => {}
                "escalated" => self.has_a_true_reason(id),
                state => panic!("{id} was never done and is {state}"),
            }
        }
    }

    /// With a person, and nothing exists: the machine must have had no right to go on.
    fn has_a_true_reason(&self, id: &str) {
        let history = &self.histories[id];
        let says = |kind: &str, word: &str| {
            history.iter().any(|(label, _, body)| label == kind && body.contains(word))
        };
        let sends = history.iter().filter(|(label, _, _)| label == "attempt_started").count() as u64;
        let moved = |to: &str| {
            let to = format!("\"to\":\"{to}\"");
            history
                .iter()
                .find(|(label, _, body)| label == "state" && body.contains(&to))
                .map(|(_, at, _)| *at)
        };
        let in_doubt = says("looked_up", "inconclusive");
        let cancel_asked = history.iter().any(|(label, _, _)| label == "cancel_asked");
        let used_up = sends > MAX_RESENDS;
        let waited_s = (moved("escalated").unwrap() - moved("unknown").unwrap()) / 1_000_000;
        let time_is_up = waited_s >= i64::try_from(ESCALATE_AFTER_S).unwrap() - 1;
        assert!(
            in_doubt || cancel_asked || used_up || time_is_up,
            "{id} is with a person for no reason after {sends} sends and {waited_s} s: {history:#?}"
        );
    }

    /// Balances, on both sides.
    pub async fn no_payment_gives_more_than_it_took(&self, shop: &Shop) {
        let mut database = shop.ledger.database().await;
        let over = "SELECT p.payment || ' captured ' || p.captured || ' holds ' || SUM(o.holds) FROM payments p \
                    JOIN operations o ON o.account = p.account AND o.target = p.payment \
                    GROUP BY p.payment, p.captured HAVING SUM(o.holds) > p.captured";
        assert_eq!(database.texts(over).await, Vec::<String>::new());
        let mut out: BTreeMap<&str, i64> = BTreeMap::new();
        for effect in self.effects.values().flatten() {
            let amount: i64 = effect["amount"].as_str().unwrap().parse().unwrap();
            *out.entry(effect["target"].as_str().unwrap()).or_default() += amount;
        }
        for (payment, out) in out {
            let captured =
                database.number(&format!("SELECT captured FROM payments WHERE payment = '{payment}'")).await;
            assert!(out <= captured, "{payment}: {out} of {captured} went out");
        }
        let held = "SELECT count(*) FROM operations WHERE (state = 'cancelled' AND holds <> 0) \
                    OR (state IN ('confirmed', 'escalated') AND holds <> amount)";
        assert_eq!(database.number(held).await, 0, "what is out or may be is held, and nothing else");
    }

    /// Nothing is due without being worked on, no lease is held by somebody who is gone, nothing was set aside.
    pub async fn no_row_is_stuck(&self, shop: &Shop) {
        let mut database = shop.ledger.database().await;
        let now = match database {
            Database::Sqlite(_) => "CAST(unixepoch('subsec') * 1000000 AS INTEGER)",
            Database::Postgres(_) => "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
        };
        let stuck = format!(
            "SELECT id || ' ' || state || ' ' || reason FROM operations \
             WHERE due_at < {now} OR lease_until > {now} OR set_aside IS NOT NULL"
        );
        until("no row is due or leased", async || {
            let stuck = database.texts(&stuck).await;
            if stuck.is_empty() { Ok(()) } else { Err(format!("{stuck:#?}")) }
        })
        .await;
    }
}

async fn history(database: &mut Database, id: &str) -> Vec<(String, i64, String)> {
    let sql = format!(
        "SELECT type || ' ' || at || ' ' || body FROM entries WHERE operation_id = '{id}' ORDER BY seq"
    );
    let lines = database.texts(&sql).await;
    lines
        .iter()
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let kind = words.next().unwrap().to_owned();
            let at = words.next().unwrap().parse().unwrap();
            (kind, at, words.next().unwrap().to_owned())
        })
        .collect()
}
