//! The scene of most stories: a provider with one captured payment, and a ledger that knows the order paid with it.

use crate::{Ledger, Setup, Simulator, order};

/// The operation that most stories are about: 380.00 TWD for line `li_2` of order 1043.
pub const REFUND: &str = "refund-1043-li_2";

/// A simulator and a ledger that sends to it.
pub struct Shop {
    pub provider: Simulator,
    pub ledger: Ledger,
}

impl Shop {
    /// Opens it with order 1043: earphones and their case, 1,580.00 TWD captured on `pi_1043`.
    pub async fn open(setup: &Setup) -> Self {
        let provider = Simulator::start().await;
        let ledger = Ledger::start(setup, provider.url()).await;
        let shop = Self { provider, ledger };
        shop.sells("1043", "158000", "TWD", &[("li_1", "120000"), ("li_2", "38000")]).await;
        shop
    }

    /// One more order, paid with `pi_{order}`.
    pub async fn sells(&self, id: &str, captured: &str, currency: &str, lines: &[(&str, &str)]) {
        let payment = format!("pi_{id}");
        self.provider.payment(&payment, captured, currency).await;
        self.ledger.put_order(id, &order(&payment, captured, currency, lines)).await.is(201);
    }

    /// Asserts how often the provider was sent to, and how many effects that made, for [`REFUND`].
    #[track_caller]
    pub fn sent_and_done(&self, sends: usize, effects: usize) -> impl Future<Output = ()> {
        let caller = std::panic::Location::caller();
        async move {
            let sent = self.provider.sends().await;
            assert_eq!(sent.len(), sends, "sends at {caller}: {sent:#?}");
            let done = self.provider.effects_of(REFUND).await;
            assert_eq!(done.len(), effects, "effects at {caller}: {done:#?}");
        }
    }
}
