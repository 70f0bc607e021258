//! `counterfoil user` and `counterfoil token`: secrets are printed once, alone on the last line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use super::{ConfigFile, Failure, RoleArgument, print, setup};
use crate::store::Clock;
use crate::work::people::{add_person, add_token, new_secret};

#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Add a person. Without a password file a password is made and printed once.
    Add {
        #[command(flatten)]
        file: ConfigFile,
        #[arg(long)]
        name: String,
        #[arg(long, value_enum)]
        role: RoleArgument,
        /// A file with the password; a line end behind it doesn't count.
        #[arg(long, env = "COUNTERFOIL_PASSWORD_FILE")]
        password_file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum TokenCommand {
    /// Add a token and print its secret once.
    Create {
        #[command(flatten)]
        file: ConfigFile,
        /// What the program is called in entries.
        #[arg(long)]
        name: String,
        /// `operations:write:KIND`, `operations:read`, `orders:write`; may be given several times.
        #[arg(long = "scope", required = true)]
        scopes: Vec<String>,
        /// The person who answers for it, by name.
        #[arg(long)]
        owner: String,
    },
}

impl UserCommand {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let Self::Add { file, name, role, password_file } = self;
        let given = password_file
            .map(|path| {
                std::fs::read_to_string(&path)
                    .map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
            })
            .transpose()?
            .map(|text| text.trim_end_matches(['\r', '\n']).to_owned());
        if given.as_ref().is_some_and(|password| password.chars().count() < 8) {
            return Err(Failure::Usage("a password has at least 8 characters".to_owned()));
        }
        let store = setup::open(&setup::load(&file)?, Clock::true_time(), true).await?;
        let password = given.clone().unwrap_or_else(new_secret);
        let added = add_person(store.as_ref(), &name, role, &password).await.map_err(Failure::failed);
        store.close().await;
        added?;
        print(format_args!("added {name}"));
        if given.is_none() {
            print("the password, shown once:");
            print(password);
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl TokenCommand {
    pub(super) async fn run(self) -> Result<ExitCode, Failure> {
        let Self::Create { file, name, scopes, owner } = self;
        let store = setup::open(&setup::load(&file)?, Clock::true_time(), true).await?;
        let added = add_token(store.as_ref(), &name, &owner, scopes).await.map_err(Failure::failed);
        store.close().await;
        let secret = added?;
        print(format_args!("added {name}; the secret, shown once:"));
        print(secret);
        Ok(ExitCode::SUCCESS)
    }
}
