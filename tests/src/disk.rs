//! A small disk that a test can fill.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::skipped;

/// A tmpfs of its own; unmounted at the end.
pub struct SmallDisk {
    dir: TempDir,
}

impl SmallDisk {
    /// `None`: it can't be had here (it takes root), and it was said loudly.
    pub fn mount(bytes: u64) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "counterfoil-test"]).arg(dir.path());
        if !mount.output().is_ok_and(|output| output.status.success()) {
            return skipped("no small disk: mounting a tmpfs takes root");
        }
        Some(Self { dir })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Not a byte is left.
    pub fn fill(&self) {
        let mut filler = std::fs::File::create(self.filler()).unwrap();
        for size in [65_536, 4096, 512, 1] {
            while filler.write_all(&vec![0; size]).is_ok() {}
        }
    }

    /// There is room again.
    pub fn empty(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.dir.path().join("filler")
    }

    /// Mounts it again so that nothing can be written; nobody may have it open.
    pub fn make_read_only(&self) {
        self.remount("ro");
    }

    pub fn make_writable(&self) {
        self.remount("rw");
    }

    fn remount(&self, how: &str) {
        let mut mount = Command::new("mount");
        let done = mount.args(["-o", &format!("remount,{how}")]).arg(self.dir.path()).status().unwrap();
        assert!(done.success(), "remount,{how}");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a test that fails may drop the ledger after its disk.
        let _ = Command::new("umount").arg("--lazy").arg(self.dir.path()).status();
    }
}
