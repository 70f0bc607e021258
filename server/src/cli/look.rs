//! `counterfoil operation show` and `counterfoil operations`: the same facts as over HTTP, in a terminal.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use counterfoil_ledger::chain::open;
use counterfoil_ledger::identity::OperationId;
use counterfoil_ledger::state::State;

use super::{ConfigFile, Failure, print, setup, store_failure};
use crate::http::api::OperationView;
use crate::store::{Clock, Filter};

#[derive(Debug, Subcommand)]
pub(super) enum OperationCommand {
    /// What is known of one operation, and its timeline.
    Show {
        /// The Operation ID: `refund-1043-li_2`.
        id: String,
        #[command(flatten)]
        file: ConfigFile,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Operations {
    #[command(flatten)]
    file: ConfigFile,
    /// Only these states; may be given several times.
    #[arg(long = "state")]
    states: Vec<State>,
    /// Only this order.
    #[arg(long)]
    order: Option<String>,
    /// At most so many, newest first.
    #[arg(long, default_value_t = 50)]
    limit: u32,
    #[arg(long)]
    json: bool,
}

impl OperationCommand {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let Self::Show { id, file, json } = self;
        let config = setup::load(&file)?;
        let store = setup::open(&config, Clock::true_time(), false).await?;
        let works = setup::works(&config, store.clone(), Clock::true_time())?;
        let id = OperationId::stored(id);
        let loaded = store.load(&id).await.map_err(|error| store_failure(&error))?;
        let Some(loaded) = loaded else {
            store.close().await;
            return Err(Failure::Failed(format!("there is no operation {id}")));
        };
        let entries = store.entries(&id).await.map_err(|error| store_failure(&error))?;
        store.close().await;
        let view = OperationView::of(&works, &loaded, true)
            .ok_or_else(|| Failure::Failed(format!("the account of {id} isn't in the configuration")))?;
        if json {
            print(serde_json::to_string_pretty(&view).map_err(Failure::failed)?);
            return Ok(ExitCode::SUCCESS);
        }
        let facts = &loaded.operation.facts;
        print(format_args!("{id}   {}   v{}", facts.state, facts.version));
        print(&view.message);
        for sealed in &entries {
            let entered = open(sealed).map_err(Failure::failed)?;
            let short = &sealed.hash[..8.min(sealed.hash.len())];
            print(format_args!(
                "{:>4}  {}  {:<16} {:<24} {short}",
                sealed.seq,
                entered.at,
                sealed.label,
                entered.actor.to_string()
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Operations {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let config = setup::load(&self.file)?;
        let store = setup::open(&config, Clock::true_time(), false).await?;
        let works = setup::works(&config, store.clone(), Clock::true_time())?;
        let filter = Filter { states: self.states, order: self.order, ..Filter::default() };
        let listed = store.list(&filter, None, self.limit).await.map_err(|error| store_failure(&error));
        store.close().await;
        let mut views = Vec::new();
        for row in listed? {
            match row.loaded {
                Ok(loaded) if self.json => views.extend(OperationView::of(&works, &loaded, true)),
                Ok(loaded) => {
                    let operation = &loaded.operation;
                    let amount = works
                        .speaker(&operation.intent.account)
                        .map(|speaker| speaker.exponents.display(operation.intent.money))
                        .unwrap_or_default();
                    print(format_args!("{:<18} {:>18}  {}", operation.facts.state.label(), amount, row.id));
                }
                Err(why) => print(format_args!("{:<18} {:>18}  {}: {why}", "unreadable", "", row.id)),
            }
        }
        if self.json {
            print(serde_json::to_string_pretty(&views).map_err(Failure::failed)?);
        }
        Ok(ExitCode::SUCCESS)
    }
}
