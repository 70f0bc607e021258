//! Waiting for a condition, with a deadline.

use std::time::{Duration, Instant};

/// How long a test waits for a condition before it fails: long, because two cores run everything at once; a condition that holds is seen
/// within 50 ms.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Asks every 50 ms until the answer is `Ok`, and returns what it carries. After [`PATIENCE`] it panics with what was waited for and the last
/// `Err`, which says how things stood instead.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Result<T, String>) -> T {
    let started = Instant::now();
    loop {
        match ask().await {
            Ok(found) => return found,
            Err(instead) => assert!(
                started.elapsed() < PATIENCE,
                "waited {} s for: {what}\ninstead: {instead}",
                PATIENCE.as_secs()
            ),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
