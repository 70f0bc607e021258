//! From the configuration to what the verbs work with.

use std::collections::BTreeMap;
use std::sync::Arc;

use counterfoil_ledger::identity::KindName;
use secrecy::ExposeSecret;
use sha2::{Digest, Sha256};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{ConfigFile, Failure, store_failure};
use crate::config::{self, Config, ProviderKind};
use crate::http::AccountFace;
use crate::provider::Provider;
use crate::provider::stripe::Stripe;
use crate::store::{self, Clock, Store};
use crate::work::{Account, Works};

/// Reads and checks the file.
pub(super) fn load(file: &ConfigFile) -> Result<Config, Failure> {
    config::load(&file.config).map_err(|errors| Failure::Usage(errors.to_string()))
}

/// Opens the database, migrates it if asked to, and binds it to namespace and identity schemas.
pub(super) async fn open(config: &Config, clock: Clock, migrate: bool) -> Result<Arc<dyn Store>, Failure> {
    let store =
        store::open(&config.server.database, clock, migrate).await.map_err(|error| store_failure(&error))?;
    let kinds: Vec<(KindName, Vec<String>)> =
        config.kinds.values().map(|kind| (kind.name.clone(), kind.identity.clone())).collect();
    let now = store.now().await.map_err(|error| store_failure(&error))?;
    store.bind(&config.namespace, &kinds, now).await.map_err(|error| store_failure(&error))?;
    Ok(store)
}

/// What the verbs work with.
pub(super) fn works(config: &Config, store: Arc<dyn Store>, clock: Clock) -> Result<Arc<Works>, Failure> {
    let mut accounts = BTreeMap::new();
    // A look-up that outlived its lease would be made twice.
    let look_up_timeout = config.daemon.lease * 3 / 4;
    for (name, account) in &config.accounts {
        let provider: Arc<dyn Provider> = match account.provider {
            ProviderKind::Stripe => Arc::new(Stripe::new(account, look_up_timeout).map_err(Failure::failed)?),
        };
        let secret_digest = hex::encode(Sha256::digest(account.secret_key.expose_secret()));
        let account = Account::new(provider, account.policy.clone(), secret_digest);
        accounts.insert(name.clone(), account);
    }
    let process = uuid::Uuid::new_v4().simple().to_string();
    Ok(Arc::new(Works {
        store,
        clock,
        namespace: config.namespace.clone(),
        accounts,
        kinds: config.kinds.clone(),
        worker: format!("worker-{}", &process[..8]),
        lease: config.daemon.lease,
        due: Notify::new(),
        tasks: TaskTracker::new(),
        stopping: CancellationToken::new(),
    }))
}

/// How accounts look to people.
pub(super) fn faces(config: &Config) -> BTreeMap<counterfoil_ledger::identity::AccountName, AccountFace> {
    let face = |account: &config::Account| AccountFace {
        base_url: account.base_url.clone(),
        test: !account.secret_key.expose_secret().starts_with("sk_live_"),
    };
    config.accounts.iter().map(|(name, account)| (name.clone(), face(account))).collect()
}
