//! A running program: its standard output line by line, its log in a file, and its end.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use crate::until;

/// A child process that is killed when it is dropped. When the test is failing, the end of its log goes to the test's output.
pub struct Program {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    log: PathBuf,
}

impl Program {
    /// Starts `command` with standard error appended to `log`.
    pub fn spawn(mut command: Command, log: &Path) -> Self {
        let stderr = File::options().create(true).append(true).open(log).unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        // The pipe is read to its end, so that a program that prints much never blocks on it.
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                seen.lock().unwrap().push(line);
            }
        });
        Self { child, lines, log: log.to_owned() }
    }

    /// What the program has printed on standard output so far.
    pub fn printed(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits for a line that starts with `prefix` and returns the rest of it; fails at once when the program ends first.
    pub async fn line_after(&mut self, prefix: &str) -> String {
        let what = format!("a line `{prefix}…`");
        until(&what, async || {
            let ended = self.child.try_wait().unwrap();
            let printed = self.printed();
            if let Some(rest) = printed.iter().find_map(|line| line.strip_prefix(prefix)) {
                return Ok(rest.to_owned());
            }
            let Some(status) = ended else { return Err(format!("still running, printed {printed:?}")) };
            panic!("ended with {status} before {what}; printed {printed:?}");
        })
        .await
    }

    /// `kill -9`: no chance to finish anything.
    pub fn kill_9(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// SIGSTOP: it stands still, with everything it holds.
    pub async fn stand_still(&self) {
        self.signal("STOP");
        // The signal is taken by one thread, and until that one has run the others go on.
        until("every thread stands", async || {
            let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
            let running: Vec<String> = tasks
                .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("stat")).ok())
                .filter(|stat| !stat.contains(") T "))
                .collect();
            if running.is_empty() { Ok(()) } else { Err(format!("{running:?}")) }
        })
        .await;
    }

    /// SIGCONT: it goes on as if no time had passed.
    pub fn go_on(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// SIGTERM, and waits for the program's own end.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal("TERM");
        until("the end after SIGTERM", async || {
            self.child.try_wait().unwrap().ok_or_else(|| "still running".to_owned())
        })
        .await
    }
}

impl Drop for Program {
    #[allow(clippy::print_stderr, reason = "the log of a failed test belongs to its output")]
    fn drop(&mut self) {
        // Both fail only for a program that has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(&self.log).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(60).collect();
            eprintln!("---- the end of {}", self.log.display());
            for line in tail.iter().rev() {
                eprintln!("{line}");
            }
        }
    }
}
