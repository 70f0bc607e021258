//! The two engines' migrations end in the same tables, columns and keys.

use std::collections::BTreeSet;

use sqlx::{Connection as _, Row as _};

use crate::bench::{Bench, Database};

/// Every column and every key, each as a line of text.
type Shape = BTreeSet<String>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_have_the_same_tables_columns_and_keys() {
    let Some(postgres) = Bench::postgres().await else { return };
    let sqlite = Bench::sqlite().await.unwrap();
    let (ours, theirs) = (sqlite_shape(&sqlite).await, postgres_shape(&postgres).await);
    assert!(ours.len() > 100, "{ours:#?}");
    assert_eq!(ours.difference(&theirs).collect::<Vec<_>>(), [""; 0], "only SQLite has these");
    assert_eq!(theirs.difference(&ours).collect::<Vec<_>>(), [""; 0], "only PostgreSQL has these");
}

#[test]
fn both_engines_migrations_have_the_same_numbers_and_names() {
    let names = |engine: &str| -> BTreeSet<String> {
        let folder = format!("{}/../migrations/{engine}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    };
    assert_eq!(names("sqlite"), names("postgres"));
}

async fn sqlite_shape(bench: &Bench) -> Shape {
    let Database::Sqlite { file, .. } = &bench.database else { panic!("not SQLite") };
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(file);
    let mut conn = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let mut shape = Shape::new();
    let columns = sqlx::query(
        "SELECT t.name AS t, c.name AS c, c.type, c.\"notnull\" OR c.pk > 0 AS filled FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '_sqlx%'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in columns {
        let (table, column, kind): (String, String, String) = (row.get("t"), row.get("c"), row.get("type"));
        shape.insert(format!(
            "{table}.{column} {kind} {}",
            if row.get("filled") { "filled" } else { "may be empty" }
        ));
    }
    let primary = sqlx::query(
        "SELECT t.name AS t, (SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_table_info(t.name) WHERE pk > 0 ORDER BY pk)) AS c
         FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '_sqlx%'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in primary {
        shape.insert(format!("{} primary ({})", row.get::<String, _>("t"), row.get::<String, _>("c")));
    }
    let indexes = sqlx::query(
        "SELECT t.name AS t, i.name AS i, i.\"unique\" AS u, i.origin,
             (SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)) AS c,
             (SELECT sql FROM sqlite_schema s WHERE s.name = i.name) AS sql
         FROM sqlite_schema t, pragma_index_list(t.name) i
         WHERE t.type = 'table' AND t.name NOT LIKE '_sqlx%' AND i.origin <> 'pk'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in indexes {
        let (table, columns): (String, String) = (row.get("t"), row.get("c"));
        let named = row.get::<String, _>("origin") == "c";
        let name = if named { row.get::<String, _>("i") } else { "key".to_owned() };
        let sql: Option<String> = row.get("sql");
        let condition =
            sql.as_deref().and_then(|sql| sql.split_once(" WHERE ")).map_or("", |(_, condition)| condition);
        let unique = if row.get("u") { "unique" } else { "index" };
        shape.insert(format!("{table} {unique} {name} ({columns}) {condition}"));
    }
    let foreign = sqlx::query(
        "SELECT t.name AS t, f.\"table\" AS other, group_concat(f.\"from\", ', ') AS c, group_concat(f.\"to\", ', ') AS d
         FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table' GROUP BY t.name, f.id ORDER BY f.seq",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in foreign {
        let text = |column: &str| row.get::<String, _>(column);
        shape.insert(format!("{} ({}) of {} ({})", text("t"), text("c"), text("other"), text("d")));
    }
    shape
}

async fn postgres_shape(bench: &Bench) -> Shape {
    let Database::Postgres { direct, .. } = &bench.database else { panic!("not PostgreSQL") };
    let mut conn = sqlx::PgConnection::connect(direct).await.unwrap();
    let mut shape = Shape::new();
    let columns = sqlx::query(
        "SELECT table_name::text AS t, column_name::text AS c, data_type::text AS kind, is_nullable = 'NO' AS filled,
             collation_name::text AS collation
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in columns {
        let (table, column): (String, String) = (row.get("t"), row.get("c"));
        let kind = match (
            row.get::<String, _>("kind").as_str(),
            row.get::<Option<String>, _>("collation").as_deref(),
        ) {
            ("text", Some("C")) => "TEXT",
            ("bigint", None) => "INTEGER",
            ("bytea", None) => "BLOB",
            other => panic!("{table}.{column}: {other:?}"),
        };
        shape.insert(format!(
            "{table}.{column} {kind} {}",
            if row.get("filled") { "filled" } else { "may be empty" }
        ));
    }
    let indexes = sqlx::query(
        "SELECT t.relname::text AS t, i.relname::text AS i, x.indisunique AS u, x.indisprimary AS p, k.oid IS NOT NULL AS made_by_key,
             pg_get_expr(x.indpred, x.indrelid) AS condition,
             (SELECT string_agg(a.attname, ', ' ORDER BY n.place) FROM unnest(x.indkey) WITH ORDINALITY AS n (number, place)
                 JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = n.number) AS c
         FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
             LEFT JOIN pg_constraint k ON k.conindid = x.indexrelid AND k.contype IN ('p', 'u')
         WHERE t.relnamespace = 'public'::regnamespace AND t.relname NOT LIKE '\\_sqlx%'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in indexes {
        let (table, columns): (String, String) = (row.get("t"), row.get("c"));
        if row.get("p") {
            shape.insert(format!("{table} primary ({columns})"));
            continue;
        }
        let name = if row.get("made_by_key") { "key".to_owned() } else { row.get::<String, _>("i") };
        // PostgreSQL shows conditions with parentheses of its own.
        let condition = row.get::<Option<String>, _>("condition").unwrap_or_default().replace(['(', ')'], "");
        let unique = if row.get("u") { "unique" } else { "index" };
        shape.insert(format!("{table} {unique} {name} ({columns}) {condition}"));
    }
    let foreign = sqlx::query(
        "SELECT conrelid::regclass::text AS t, confrelid::regclass::text AS other,
             (SELECT string_agg(a.attname, ', ' ORDER BY n.place) FROM unnest(conkey) WITH ORDINALITY AS n (number, place)
                 JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = n.number) AS c,
             (SELECT string_agg(a.attname, ', ' ORDER BY n.place) FROM unnest(confkey) WITH ORDINALITY AS n (number, place)
                 JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = n.number) AS d
         FROM pg_constraint WHERE contype = 'f'",
    )
    .fetch_all(&mut conn)
    .await
    .unwrap();
    for row in foreign {
        let text = |column: &str| row.get::<String, _>(column);
        shape.insert(format!("{} ({}) of {} ({})", text("t"), text("c"), text("other"), text("d")));
    }
    shape
}
