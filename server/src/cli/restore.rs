//! `counterfoil restore`: a person's word on a restore from a backup.

use std::process::ExitCode;

use clap::Subcommand;

use super::{ConfigFile, Failure, print, setup};
use crate::store::Clock;
use crate::work::restore::end_restore;

#[derive(Debug, Subcommand)]
pub(super) enum RestoreCommand {
    /// End the restore that is in force: from now on operations are sent without proof that they weren't sent before it. It
    /// stands in the ledger's chain for ever.
    End {
        #[command(flatten)]
        file: ConfigFile,
        /// The person who says so, by name: an operator, a reviewer or an administrator.
        #[arg(long)]
        by: String,
        /// Why it is over.
        #[arg(long)]
        note: String,
    },
}

impl RestoreCommand {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let Self::End { file, by, note } = self;
        let store = setup::open(&setup::load(&file)?, Clock::true_time(), false).await?;
        let ended = end_restore(store.as_ref(), &by, &note).await.map_err(Failure::failed);
        store.close().await;
        print(format_args!("the restore of {} is over, says {by}", ended?));
        Ok(ExitCode::SUCCESS)
    }
}
