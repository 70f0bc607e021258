//! Who is there: demo people with real, hashed passwords, and the token of the program that plays the model.

use std::path::Path;

use super::{Card, CardPerson};
use crate::cli::Failure;
use crate::store::{Role, Store};
use crate::work::people::{add_person, add_token, new_secret};

const PEOPLE: [(&str, Role); 7] = [
    ("Mei", Role::Reviewer),
    ("Kofi", Role::Reviewer),
    ("Ingrid", Role::Reviewer),
    ("Ann", Role::Operator),
    ("Vera", Role::Viewer),
    ("Otto", Role::Auditor),
    ("Ada", Role::Administrator),
];
/// The token's owner.
const OWNER: &str = "Ann";
const SCOPES: [&str; 5] = [
    "operations:write:refund",
    "operations:write:refund_eu",
    "operations:write:refund_jp",
    "operations:read",
    "orders:write",
];

/// Makes people and token on an empty directory, or finds those of an earlier run; writes `demo.json`.
pub(super) async fn card(
    store: &dyn Store,
    dir: &Path,
    base_url: &str,
    simulator_url: &str,
) -> Result<Card, Failure> {
    let file = dir.join("demo.json");
    let before =
        std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Card>(&text).ok());
    let mut card = match before {
        Some(card) => card,
        None => {
            let mut people = Vec::new();
            for (name, role) in PEOPLE {
                let password = new_secret();
                add_person(store, name, role, &password).await.map_err(Failure::failed)?;
                people.push(CardPerson { name: name.to_owned(), password, role });
            }
            let scopes = SCOPES.map(str::to_owned).to_vec();
            let api_token = add_token(store, "agent", OWNER, scopes).await.map_err(Failure::failed)?;
            Card { base_url: String::new(), api_token, simulator_url: String::new(), people }
        }
    };
    base_url.clone_into(&mut card.base_url);
    simulator_url.clone_into(&mut card.simulator_url);
    let text = serde_json::to_string_pretty(&card).map_err(Failure::failed)?;
    std::fs::write(&file, text).map_err(|error| Failure::Failed(format!("{}: {error}", file.display())))?;
    Ok(card)
}
