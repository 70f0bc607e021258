//! The binary under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The path of `counterfoil`, built from the sources as they are now in the profile of the running test, so that no test runs a stale binary.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // A test lives at <target>/<profile>/deps/<name>-<hash>.
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().and_then(Path::parent).unwrap();
        let mut build = Command::new(env!("CARGO"));
        // Both packages, so that features come together as in the test's own build, and only the binary is left to link.
        build.args(["build", "--quiet", "-p", "counterfoil", "-p", "counterfoil-tests"]);
        build.args(["--bin", "counterfoil", "--target-dir"]);
        build.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        // What cargo tells a test about its package would make build scripts that watch those names run again, and all that depends on
        // them compile again, in every run.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || name == "CARGO_CRATE_NAME"
            {
                build.env_remove(name.as_ref());
            }
        }
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the binary doesn't build");
        profile.join("counterfoil")
    })
}
