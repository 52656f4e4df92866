//! Links smaller programs where the system supports it: packed relocations save 0.7 MB, but only glibc 2.36 and newer
//! can load them. A GNU linker that does not know the option ignores it with a warning; gold fails.

use std::env;
use std::process::Command;

/// The first version of glibc that loads packed relocations.
const GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_native = env::var_os("HOST") == env::var_os("TARGET");
    let is_glibc = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "gnu");
    let is_gold = env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("gold"));
    if is_native && is_glibc && !is_gold && glibc_version().is_some_and(|version| version >= GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Returns the version of this machine's glibc.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = printed.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
