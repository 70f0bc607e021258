//! The door through which pages reach the store.

use std::time::Duration;

use async_trait::async_trait;
use counterfoil_desk::{
    AccountMode, Alarm, ChainedEntry, Choices, Counts, DaemonSheet, Desk, DeskError, Filter, ListView,
    NextStep, OperationRow, OperationRows, OperationSheet, OrderLine, OrderOperation, OrderSheet,
    PaymentEffect, Provider, Related, Relation, Run,
};
use counterfoil_ledger::chain::open;
use counterfoil_ledger::decide::{Policy, Reason};
use counterfoil_ledger::entry::Hold;
use counterfoil_ledger::evidence::EffectSeen;
use counterfoil_ledger::identity::{AccountName, OperationId};
use counterfoil_ledger::money::{ExponentTable, Money};
use counterfoil_ledger::window::{earlier, later};
use jiff::Timestamp;

use crate::http::Shared;
use crate::store::{self, Cursor, KnownEffect, Limits, Listed, Loaded, PaymentSheet, StoreError};
use crate::work::WorkError;
use crate::work::schedule::RECONCILE;

/// Windows that end within this need attention.
const WINDOW_SOON: Duration = Duration::from_secs(2 * 3600);
/// Operations of one order that are shown at once.
const ORDER_OPERATIONS_MAX: u32 = 500;

/// One request's view of the store.
pub(super) struct Reader<'a> {
    pub shared: &'a Shared,
    pub now: Timestamp,
}

pub(super) fn store_error(error: StoreError) -> DeskError {
    match error {
        StoreError::Unreadable { row, why, .. } => DeskError::SetAside { id: OperationId::stored(row), why },
        error => DeskError::Store(Box::new(error)),
    }
}

impl Reader<'_> {
    fn limits(&self) -> Limits {
        let pending =
            self.shared.works.accounts.values().map(|account| account.policy.pending_attention).min();
        Limits {
            now: self.now,
            window_until: later(self.now, WINDOW_SOON),
            pending_since: earlier(self.now, pending.unwrap_or_default()),
        }
    }

    fn provider(&self, account: &AccountName) -> Result<(Provider, Policy), DeskError> {
        let missing = || DeskError::Store(Box::new(WorkError::NoAccount(account.clone())));
        let known = self.shared.works.accounts.get(account).ok_or_else(missing)?;
        let face = self.shared.installation.accounts.get(account).ok_or_else(missing)?;
        let declaration = known.provider.declaration();
        let console = declaration.console_url.replace("{}", "{id}");
        let provider = Provider {
            name: declaration.name.to_owned(),
            account: account.clone(),
            mode: if face.test { AccountMode::Test } else { AccountMode::Live },
            base_url: face.base_url.clone(),
            exponents: declaration.exponents,
            console_effect: Some(console.clone()),
            console_target: Some(console),
        };
        Ok((provider, known.policy.clone()))
    }

    async fn entries(&self, id: &OperationId) -> Result<Vec<ChainedEntry>, DeskError> {
        let sealed = self.shared.works.store.entries(id).await.map_err(store_error)?;
        sealed
            .iter()
            .map(|row| {
                let entered = open(row)
                    .map_err(|error| DeskError::SetAside { id: id.clone(), why: error.to_string() })?;
                Ok(ChainedEntry { entered, hash: row.hash.clone() })
            })
            .collect()
    }

    async fn owner_name(&self, loaded: &Loaded) -> Result<Option<String>, DeskError> {
        let Some(asked) = &loaded.operation.facts.asked else { return Ok(None) };
        self.shared.works.store.person_name(&asked.owner).await.map_err(store_error)
    }

    async fn related(&self, loaded: &Loaded) -> Result<Vec<Related>, DeskError> {
        let operation = &loaded.operation;
        let subject = &operation.facts.subject;
        let number = subject.revision.number();
        let mut wanted = Vec::new();
        for neighbour in [number.checked_sub(1), number.checked_add(1)].into_iter().flatten() {
            let revision = counterfoil_ledger::identity::Revision::try_from(neighbour);
            let id = revision
                .and_then(|revision| OperationId::compute(&subject.kind, &subject.values(), revision));
            wanted.extend(id.into_iter().map(|id| (id, Relation::Revision)));
        }
        for hold in &operation.facts.holds {
            if let Hold::Twin { operation } = hold {
                wanted.push((operation.clone(), Relation::Twin));
            }
        }
        let mut related = Vec::new();
        for (id, relation) in wanted {
            if let Some(other) = self.shared.works.store.load(&id).await.map_err(store_error)? {
                let facts = &other.operation.facts;
                related.push(Related { operation: id, state: facts.state, bounced: facts.bounced, relation });
            }
        }
        Ok(related)
    }
}

/// A row of the list. One whose history can't be read is shown by what its columns say.
fn row(listed: Listed, exponents: impl Fn(&AccountName) -> Option<ExponentTable>) -> Option<OperationRow> {
    let Ok(loaded) = listed.loaded else {
        let Listed { id, set_aside, plain, .. } = listed;
        let account: AccountName = plain.account.parse().ok()?;
        return Some(OperationRow {
            id,
            state: plain.state.parse().ok()?,
            bounced: false,
            kind: plain.kind.parse().ok()?,
            order: plain.order,
            money: Money::new(plain.amount_minor, plain.currency.parse().ok()?).ok()?,
            exponents: exponents(&account)?,
            account,
            external_id: None,
            attempts: 0,
            window_closes_at: None,
            reason: Reason::StillWithPerson,
            due_at: None,
            updated_at: plain.updated_at,
            incidents: 0,
            set_aside: Some(set_aside.unwrap_or_else(|| "it can't be read".to_owned())),
        });
    };
    let operation = &loaded.operation;
    let facts = &operation.facts;
    Some(OperationRow {
        id: listed.id,
        state: facts.state,
        bounced: facts.bounced,
        kind: facts.subject.kind.clone(),
        order: facts.subject.order.to_string(),
        money: operation.intent.money,
        exponents: exponents(&operation.intent.account)?,
        account: operation.intent.account.clone(),
        external_id: facts.conclusion.external_id().map(str::to_owned),
        attempts: u32::try_from(facts.attempts.len()).unwrap_or(u32::MAX),
        window_closes_at: facts.window.map(|window| window.closes_at()),
        reason: loaded.step.reason,
        due_at: loaded.step.due_at,
        updated_at: facts.updated_at,
        incidents: u32::try_from(facts.incidents.len()).unwrap_or(u32::MAX),
        set_aside: listed.set_aside,
    })
}

fn effect(known: &KnownEffect, payment: &str) -> PaymentEffect {
    PaymentEffect {
        effect: EffectSeen {
            external_id: known.external_id.clone(),
            marker: known.marker.clone(),
            targets: vec![payment.to_owned()],
            amount_minor: known.amount_minor,
            currency: known.currency.clone(),
            status: known.status,
            provider_status: known.provider_status.clone(),
            failure_reason: None,
            created_at: known.created_at,
        },
        holder: known.operation.clone(),
        seen_at: known.last_seen_at,
    }
}

fn effects(payment: Option<&PaymentSheet>) -> Vec<PaymentEffect> {
    let Some(payment) = payment else { return Vec::new() };
    payment.effects.iter().map(|known| effect(known, &payment.payment)).collect()
}

fn step(loaded: &Loaded) -> NextStep {
    NextStep { reason: loaded.step.reason, due_at: loaded.step.due_at }
}

/// `key.ordinal`, as the list gave it out.
fn read_cursor(text: &str) -> Result<Cursor, DeskError> {
    let (key, ordinal) = text.split_once('.').ok_or(DeskError::Cursor)?;
    let number = |text: &str| text.parse().map_err(|_| DeskError::Cursor);
    Ok(Cursor { key: number(key)?, ordinal: number(ordinal)? })
}

#[async_trait]
impl Desk for Reader<'_> {
    async fn operations(
        &self,
        filter: &Filter,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<OperationRows, DeskError> {
        use counterfoil_ledger::state::State;
        let limits = self.limits();
        let mut wanted = store::Filter {
            states: filter.state.into_iter().collect(),
            order: filter.order.clone(),
            external_id: filter.external_id.clone(),
            kind: filter.kind.as_ref().map(ToString::to_string),
            account: filter.account.as_ref().map(ToString::to_string),
            from: filter.from,
            before: filter.before,
            urgent_as_of: Some(self.now),
            ..store::Filter::default()
        };
        let only = |wanted: &mut store::Filter, state| match filter.state {
            Some(other) if other != state => wanted.states = vec![other, state],
            _ => wanted.states = vec![state],
        };
        match filter.view {
            ListView::All => wanted.urgent_as_of = None,
            ListView::Attention => wanted.view = store::View::Attention(limits),
            ListView::WindowClosing => wanted.view = store::View::WindowClosing(limits),
            ListView::PendingTooLong => wanted.view = store::View::PendingTooLong(limits),
            ListView::Unknown => only(&mut wanted, State::Unknown),
            ListView::Escalated => only(&mut wanted, State::Escalated),
        }
        let after = cursor.map(read_cursor).transpose()?;
        let store = &self.shared.works.store;
        let mut listed = store.list(&wanted, after, limit.saturating_add(1)).await.map_err(store_error)?;
        let more = listed.len() > limit as usize;
        listed.truncate(limit as usize);
        let next =
            listed.last().filter(|_| more).map(|last| format!("{}.{}", last.place.key, last.place.ordinal));
        let tally = store.tally(limits).await.map_err(store_error)?;
        let exponents =
            |account: &AccountName| self.shared.works.speaker(account).map(|speaker| speaker.exponents);
        Ok(OperationRows {
            rows: listed.into_iter().filter_map(|listed| row(listed, exponents)).collect(),
            next,
            counts: Counts {
                attention: tally.attention,
                window_closing: tally.window_closing,
                pending_too_long: tally.pending_too_long,
                open: tally.open,
            },
            ledger_is_empty: tally.ledger_is_empty,
        })
    }

    async fn operation(&self, id: &OperationId) -> Result<Option<OperationSheet>, DeskError> {
        let store = &self.shared.works.store;
        let Some(loaded) = store.load(id).await.map_err(store_error)? else { return Ok(None) };
        let intent = &loaded.operation.intent;
        let (provider, policy) = self.provider(&intent.account)?;
        let payment = store.payment(&intent.account, &intent.target).await.map_err(store_error)?;
        Ok(Some(OperationSheet {
            entries: self.entries(id).await?,
            related: self.related(&loaded).await?,
            effects: effects(payment.as_ref()),
            step: step(&loaded),
            policy,
            provider,
            owner_name: self.owner_name(&loaded).await?,
            restored_at: store.restored_at().await.map_err(store_error)?,
            set_aside: loaded.set_aside.clone(),
            operation: loaded.operation,
        }))
    }

    async fn order(&self, order: &str) -> Result<Option<OrderSheet>, DeskError> {
        let store = &self.shared.works.store;
        let Some(snapshot) = store.order(order).await.map_err(store_error)? else { return Ok(None) };
        let (provider, _) = self.provider(&snapshot.account)?;
        let filter = store::Filter { order: Some(order.to_owned()), ..store::Filter::default() };
        let mut operations = Vec::new();
        let listed = store.list(&filter, None, ORDER_OPERATIONS_MAX).await.map_err(store_error)?;
        for loaded in listed.into_iter().rev().filter_map(|listed| listed.loaded.ok()) {
            let (_, policy) = self.provider(&loaded.operation.intent.account)?;
            let entries = self.entries(&loaded.operation.id).await?;
            operations.push(OrderOperation {
                step: step(&loaded),
                operation: loaded.operation,
                entries,
                policy,
            });
        }
        let payment = store.payment(&snapshot.account, &snapshot.payment).await.map_err(store_error)?;
        let ours = |id: &OperationId| operations.iter().any(|operation| operation.operation.id == *id);
        let holders = payment.iter().flat_map(|payment| &payment.holders);
        Ok(Some(OrderSheet {
            order: snapshot.id,
            customer: snapshot.customer,
            payment: snapshot.payment,
            provider,
            currency: snapshot.currency,
            captured_minor: snapshot.captured_minor,
            lines: snapshot
                .lines
                .into_iter()
                .map(|line| OrderLine {
                    id: line.id,
                    title: line.title,
                    quantity: line.quantity.map(u64::from),
                    minor: line.amount_minor,
                })
                .collect(),
            snapshot_at: snapshot.updated_at,
            blocked: payment.as_ref().is_some_and(PaymentSheet::is_blocked),
            others: holders.filter(|holder| !ours(&holder.operation)).cloned().collect(),
            effects: effects(payment.as_ref()),
            operations,
        }))
    }

    async fn daemon(&self) -> Result<DaemonSheet, DeskError> {
        let store = &self.shared.works.store;
        let runs = store.runs().await.map_err(store_error)?;
        let last = runs.iter().find(|run| run.job == RECONCILE);
        let alarms = store.alarms().await.map_err(store_error)?;
        let schedule = &self.shared.installation.reconcile;
        Ok(DaemonSheet {
            last: last.map(|run| Run {
                started_at: run.started_at,
                ended_at: run.finished_at,
                rows: run.found,
            }),
            schedule: schedule.as_str().to_owned(),
            next_at: schedule.next_after(self.now),
            alarms: alarms.into_iter().map(alarm).collect(),
        })
    }

    fn choices(&self) -> Choices {
        let works = &self.shared.works;
        Choices {
            kinds: works.kinds.keys().cloned().collect(),
            accounts: works.accounts.keys().cloned().collect(),
        }
    }
}

fn alarm(alarm: store::Alarm) -> Alarm {
    let subject = Some(alarm.account).filter(|subject| !subject.is_empty());
    Alarm { kind: alarm.kind, subject, since: alarm.raised_at }
}
