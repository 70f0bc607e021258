//! The shop's word on an order comes in.

use counterfoil_ledger::alarm::AlarmKind;
use counterfoil_ledger::balance::held_minor;

use super::{WorkError, Works};
use crate::store::{OrderPut, OrderSnapshot};

impl Works {
    /// Takes a snapshot in. What was captured may be lowered below what is held: that is accepted, blocks new sends and raises an
    /// alarm, because the shop knows something that the ledger doesn't.
    ///
    /// # Errors
    /// [`WorkError`] when it couldn't be stored; then nothing changed.
    pub async fn take_order(&self, order: OrderSnapshot) -> Result<OrderPut, WorkError> {
        let now = self.store.now().await?;
        let (account, payment) = (order.account.clone(), order.payment.clone());
        let put = self.store.put_order(order, now).await?;
        if !matches!(put, OrderPut::New | OrderPut::Replaced) {
            return Ok(put);
        }
        let Some(sheet) = self.store.payment(&account, &payment).await? else { return Ok(put) };
        let subject = format!("{account}/{payment}");
        if !sheet.is_blocked() {
            self.store.clear_alarm(&subject, AlarmKind::CapturedBelowHeld, now).await?;
            return Ok(put);
        }
        let detail = format!(
            "more is held than was captured ({} > {} minor units of {}); nothing is sent on this payment",
            held_minor(&sheet.holders).saturating_add(sheet.foreign_minor()),
            sheet.captured_minor,
            sheet.currency,
        );
        if self.store.raise_alarm(&subject, AlarmKind::CapturedBelowHeld, &detail, now).await? {
            tracing::error!(account = %account, payment, "captured was lowered below what is held");
        }
        Ok(put)
    }
}
