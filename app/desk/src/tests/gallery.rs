//! Writes fixture pages to `target/gallery/`, so that people can look at them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use counterfoil_ledger::alarm::AlarmKind;

use super::fixture::*;
use crate::*;

#[tokio::test]
async fn pages_can_be_written_out_and_looked_at() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let out = root.join("target/gallery");
    std::fs::create_dir_all(&out).unwrap();
    let mut shelf = Shelf::of(&stories());
    shelf.alarms = vec![Alarm {
        kind: AlarmKind::WritesUnauthorized,
        subject: Some("stripe-main".to_owned()),
        since: at("02:00:17"),
    }];
    for lang in Lang::ALL {
        let mut pages = Vec::new();
        let query = OperationsQuery { view: "all".to_owned(), ..OperationsQuery::default() };
        let list = viewer(lang, "/operations?view=all");
        pages.push(("operations".to_owned(), operations(&shelf, &list, &query).await.unwrap()));
        for story in stories() {
            let id = &story.operation.id;
            let viewer = viewer(lang, &format!("/operations/{id}"));
            pages.push((format!("operation-{id}"), operation(&shelf, &viewer, id).await.unwrap()));
        }
        for number in ["1043", "4410", "4412"] {
            let viewer = viewer(lang, &format!("/orders/{number}"));
            pages.push((format!("order-{number}"), order(&shelf, &viewer, number).await.unwrap()));
        }
        pages.push(("help".to_owned(), help_states(&viewer(lang, "/help/states"))));
        pages.push(("not-found".to_owned(), problem(&PageError::NotFound, &viewer(lang, "/x"))));
        for (name, page) in pages {
            let html = page.html.replace("/assets/", "../../style/");
            std::fs::write(out.join(format!("{name}.{}.html", lang.label())), html).unwrap();
        }
    }
}
