//! When to work: the bell, the nearest due time, and a commit that made something due.
//!
//! The cron scheduler only rings. Due times, leases and catch-up live in the table, so nothing is lost when a bell is.

use std::sync::Arc;
use std::time::Duration;

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::decide::Circumstances;
use counterfoil_ledger::window::later;
use tokio::sync::watch;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};

use super::{WorkError, Works};
use crate::config::Schedule;
use crate::store::{Claim, LedgerAct, Run};

/// The job's name in `runs` and on the desk.
pub const RECONCILE: &str = "reconcile";
/// With nothing due, the table is still looked at this often: another process may have put something in.
const IDLE: Duration = Duration::from_secs(30);

/// The bell: what rings by cron.
pub struct Bell {
    scheduler: JobScheduler,
    pub rings: watch::Receiver<u64>,
}

impl Bell {
    /// Sets the bell up and starts it. Expressions are read in UTC: a bell that rings twice or not at all when summer time
    /// changes would be nobody's wish.
    ///
    /// # Errors
    /// When the scheduler doesn't take the expression, which the configuration's check has let pass.
    pub async fn start(schedule: &Schedule) -> Result<Self, JobSchedulerError> {
        let scheduler = JobScheduler::new().await?;
        let (ring, rings) = watch::channel(0_u64);
        let job = Job::new(schedule.as_str(), move |_, _| ring.send_modify(|count| *count += 1))?;
        scheduler.add(job).await?;
        scheduler.start().await?;
        Ok(Self { scheduler, rings })
    }

    /// Stops ringing.
    pub async fn stop(mut self) {
        if let Err(error) = self.scheduler.shutdown().await {
            tracing::warn!(error = %error, "the scheduler didn't stop cleanly");
        }
    }
}

impl Works {
    /// Works until told to stop: one loop, one pass at a time, rows side by side within it.
    pub async fn run(self: Arc<Self>, mut rings: watch::Receiver<u64>) {
        let mut offset_s = 0;
        // What happened while nobody was there is caught up with at once.
        let mut rung = true;
        loop {
            self.chain_test_clock(&mut offset_s).await;
            let wait = match self.pass(rung).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::error!(error = %error, "the daemon couldn't read what is due; it tries again");
                    Duration::from_secs(1)
                }
            };
            rung = tokio::select! {
                () = self.stopping.cancelled() => break,
                () = tokio::time::sleep(wait) => false,
                () = self.due.notified() => false,
                changed = rings.changed() => match changed {
                    Ok(()) => true,
                    Err(_) => break,
                },
            };
            if self.stopping.is_cancelled() {
                break;
            }
        }
    }

    /// Claims what is due, as far as there is room, and starts on it. Says how long nothing will be due.
    async fn pass(self: &Arc<Self>, rung: bool) -> Result<Duration, WorkError> {
        let now = self.store.now().await?;
        let mut found = 0_u64;
        let mut crowded = false;
        for (name, account) in &self.accounts {
            let free = u32::try_from(account.slots.available_permits()).unwrap_or(u32::MAX);
            if free == 0 {
                crowded = true;
                continue;
            }
            let lease = self.new_lease();
            let claim = Claim { token: lease.clone(), now, until: later(now, self.lease) };
            for id in self.store.claim_due(name, &claim, free).await? {
                found += 1;
                let Ok(permit) = Arc::clone(&account.slots).try_acquire_owned() else { break };
                let (works, lease) = (Arc::clone(self), lease.clone());
                self.tasks.spawn(async move {
                    works.reconcile(&id, &lease).await;
                    drop(permit);
                    works.due.notify_one();
                });
            }
        }
        if rung {
            self.check_clock(now).await?;
            let finished_at = Some(self.store.now().await?);
            let run = Run { job: RECONCILE.to_owned(), started_at: now, finished_at, found };
            self.store.note_run(&run).await?;
        }
        let wait = self
            .store
            .next_due(now)
            .await?
            .map_or(IDLE, |due| Duration::try_from(due.duration_since(now)).unwrap_or_default());
        // Where there is no room, the end of a row's work wakes the loop.
        let soonest = Duration::from_millis(if crowded { 500 } else { 20 });
        Ok(wait.clamp(soonest, IDLE))
    }

    /// A test clock that was moved stands in the chain for ever.
    async fn chain_test_clock(&self, chained_s: &mut i64) {
        let offset_s = self.clock.offset_s();
        if offset_s == *chained_s {
            return;
        }
        let chained = async {
            let now = self.store.now().await?;
            self.store.chain_act(LedgerAct::TestClock { offset_s }, now).await
        };
        match chained.await {
            Ok(()) => *chained_s = offset_s,
            Err(error) => {
                tracing::error!(error = %error, "a move of the test clock couldn't be written down")
            }
        }
    }

    /// A clock that went back makes resends wait; somebody must hear of it.
    async fn check_clock(&self, now: jiff::Timestamp) -> Result<(), WorkError> {
        let newest = self.store.newest().await?.unwrap_or(now);
        let seen = Circumstances {
            now,
            newest_in_ledger: newest,
            account_paused: false,
            payment_blocked: false,
            restored_at: None,
        };
        if seen.clock_is_behind() {
            let detail = format!("it says {now}, and the ledger holds entries of {newest}; resends wait");
            if self.store.raise_alarm("", AlarmKind::ClockBehind, &detail, now).await? {
                tracing::error!(now = %now, newest = %newest, "the clock is behind the newest time in the ledger");
            }
        } else {
            self.store.clear_alarm("", AlarmKind::ClockBehind, now).await?;
        }
        Ok(())
    }
}
