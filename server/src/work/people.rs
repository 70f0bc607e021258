//! People and tokens: secrets are made here, shown once, and kept only as hashes.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;
use rand::RngExt as _;
use rand::distr::Alphanumeric;
use sha2::{Digest, Sha256};

use super::{WorkError, Works};
use crate::store::{Person, Role, Store, Token};

/// Letters and digits in a secret: 43 carry over 256 bits.
const SECRET_CHARS: usize = 43;
/// What every token begins with, so that leaked ones can be searched for.
const TOKEN_PREFIX: &str = "cft_";

/// Why a person or a token wasn't added.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    #[error(transparent)]
    Work(#[from] WorkError),
    #[error("the name {0:?} is taken")]
    Taken(String),
    #[error("there is no person named {0:?}")]
    NoSuchPerson(String),
    #[error("the name must be 1 to 64 printable characters without outer spaces")]
    Name,
    #[error("the scope {0:?} is not one of operations:read, operations:write:KIND, orders:write")]
    Scope(String),
    #[error("the password couldn't be hashed")]
    Hash,
}

impl From<crate::store::StoreError> for PeopleError {
    fn from(error: crate::store::StoreError) -> Self {
        Self::Work(error.into())
    }
}

/// A new secret of letters and digits.
pub fn new_secret() -> String {
    rand::rng().sample_iter(Alphanumeric).take(SECRET_CHARS).map(char::from).collect()
}

/// What a token's secret is stored as. It is as long as a key, so one round suffices.
pub fn token_hash(secret: &str) -> String {
    hex::encode(Sha256::digest(secret))
}

/// Adds a person with a password.
///
/// # Errors
/// [`PeopleError`]; nothing is added then.
pub async fn add_person(
    store: &dyn Store,
    name: &str,
    role: Role,
    password: &str,
) -> Result<Person, PeopleError> {
    check_name(name)?;
    let hash = Argon2::default().hash_password(password.as_bytes()).map_err(|_| PeopleError::Hash)?;
    let person = Person {
        id: uuid::Uuid::new_v4().to_string(),
        name: name.to_owned(),
        role,
        password_hash: hash.to_string(),
    };
    let now = store.now().await?;
    if store.add_person(person.clone(), now).await? {
        Ok(person)
    } else {
        Err(PeopleError::Taken(name.to_owned()))
    }
}

/// Adds a token of a person and returns its secret, which is shown once.
///
/// # Errors
/// [`PeopleError`]; nothing is added then.
pub async fn add_token(
    store: &dyn Store,
    name: &str,
    owner: &str,
    scopes: Vec<String>,
) -> Result<String, PeopleError> {
    check_name(name)?;
    for scope in &scopes {
        check_scope(scope)?;
    }
    let owner = store.person(owner).await?.ok_or_else(|| PeopleError::NoSuchPerson(owner.to_owned()))?;
    let secret = format!("{TOKEN_PREFIX}{}", new_secret());
    let token = Token { name: name.to_owned(), owner: owner.id, scopes };
    let now = store.now().await?;
    if store.add_token(token, &token_hash(&secret), now).await? {
        Ok(secret)
    } else {
        Err(PeopleError::Taken(name.to_owned()))
    }
}

impl Works {
    /// The token of a secret.
    ///
    /// # Errors
    /// [`WorkError`] when the store can't say.
    pub async fn token(&self, secret: &str) -> Result<Option<Token>, WorkError> {
        Ok(self.store.token(&token_hash(secret)).await?)
    }
}

fn check_name(name: &str) -> Result<(), PeopleError> {
    let printable = !name.is_empty()
        && name.chars().count() <= 64
        && name.trim() == name
        && !name.chars().any(counterfoil_ledger::identity::is_invisible);
    if printable { Ok(()) } else { Err(PeopleError::Name) }
}

fn check_scope(scope: &str) -> Result<(), PeopleError> {
    let known = matches!(scope, "operations:read" | "orders:write")
        || scope
            .strip_prefix("operations:write:")
            .is_some_and(|kind| kind.parse::<counterfoil_ledger::identity::KindName>().is_ok());
    if known { Ok(()) } else { Err(PeopleError::Scope(scope.to_owned())) }
}
