//! People and the tokens they own.

use counterfoil_ledger::intent::canonical;
use jiff::Timestamp;
use sqlx::Row as _;

use super::{Connection, query, unreadable};
use crate::store::clock::to_us;
use crate::store::{LedgerAct, Person, Role, StoreError, Token};

pub(super) async fn person(conn: &mut Connection, name: &str) -> Result<Option<Person>, StoreError> {
    let step = "read person";
    let row = query("SELECT id, name, role, password_hash FROM people WHERE name = $1")
        .bind(name)
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| {
        let label: String = row.try_get("role").map_err(StoreError::at(step))?;
        let role: Role =
            serde_json::from_value(label.into()).map_err(|error| unreadable("people", name, error))?;
        Ok(Person {
            id: row.try_get("id").map_err(StoreError::at(step))?,
            name: row.try_get("name").map_err(StoreError::at(step))?,
            role,
            password_hash: row.try_get("password_hash").map_err(StoreError::at(step))?,
        })
    })
    .transpose()
}

pub(super) async fn person_name(conn: &mut Connection, id: &str) -> Result<Option<String>, StoreError> {
    let step = "read person's name";
    let row = query("SELECT name FROM people WHERE id = $1")
        .bind(id)
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| row.try_get("name").map_err(StoreError::at(step))).transpose()
}

pub(super) async fn add_person(
    conn: &mut Connection,
    person: &Person,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let role =
        serde_json::to_value(person.role).map_err(|error| unreadable("people", &person.name, error))?;
    let added = query(
        "INSERT INTO people (id, name, role, password_hash, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(&person.id)
    .bind(&person.name)
    .bind(role.as_str().unwrap_or_default())
    .bind(&person.password_hash)
    .bind(to_us(at))
    .execute(&mut *conn)
    .await
    .map_err(StoreError::at("add person"))?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    let act =
        LedgerAct::PersonAdded { person: person.id.clone(), name: person.name.clone(), role: person.role };
    super::chain_act(conn, &act, at).await?;
    Ok(true)
}

pub(super) async fn add_token(
    conn: &mut Connection,
    token: &Token,
    secret_hash: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let scopes = canonical(&token.scopes).map_err(|error| unreadable("tokens", &token.name, error))?;
    let added = query(
        "INSERT INTO tokens (name, owner, secret_hash, scopes, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
    )
    .bind(&token.name)
    .bind(&token.owner)
    .bind(secret_hash)
    .bind(scopes)
    .bind(to_us(at))
    .execute(&mut *conn)
    .await
    .map_err(StoreError::at("add token"))?;
    if added.rows_affected() == 0 {
        return Ok(false);
    }
    let act = LedgerAct::TokenAdded {
        token: token.name.clone(),
        owner: token.owner.clone(),
        scopes: token.scopes.clone(),
    };
    super::chain_act(conn, &act, at).await?;
    Ok(true)
}

pub(super) async fn token(conn: &mut Connection, secret_hash: &str) -> Result<Option<Token>, StoreError> {
    let step = "read token";
    let row = query("SELECT name, owner, scopes FROM tokens WHERE secret_hash = $1")
        .bind(secret_hash)
        .fetch_optional(conn)
        .await
        .map_err(StoreError::at(step))?;
    row.map(|row| {
        let name: String = row.try_get("name").map_err(StoreError::at(step))?;
        let scopes: String = row.try_get("scopes").map_err(StoreError::at(step))?;
        Ok(Token {
            owner: row.try_get("owner").map_err(StoreError::at(step))?,
            scopes: serde_json::from_str(&scopes).map_err(|error| unreadable("tokens", &name, error))?,
            name,
        })
    })
    .transpose()
}
