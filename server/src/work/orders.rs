//! The shop's word on an order comes in.

use counterfoil_ledger::balance::Holder;
use counterfoil_ledger::money::Currency;

use super::{WorkError, Works};
use crate::store::{AlarmKind, OrderPut, OrderSnapshot};

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
        if let Some(sheet) = self.store.payment(&account, &payment).await?
            && sheet.is_blocked()
        {
            let detail = format!(
                "payment {payment}: more is held than was captured ({} > {} minor units of {}); nothing is sent on it",
                held(&sheet.holders).saturating_add(sheet.foreign_minor()),
                sheet.captured_minor,
                code(sheet.currency),
            );
            if self.store.raise_alarm(account.as_str(), AlarmKind::CapturedBelowHeld, &detail, now).await? {
                tracing::error!(account = %account, payment, "captured was lowered below what is held");
            }
        }
        Ok(put)
    }
}

fn held(holders: &[Holder]) -> i64 {
    counterfoil_ledger::balance::held_minor(holders)
}

fn code(currency: Currency) -> String {
    currency.code().to_owned()
}
