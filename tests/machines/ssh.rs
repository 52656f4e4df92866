//! Real ssh on this machine, with its own keys, ports and home directories. Skipped without sshd.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::effort::skipped;
use crate::common::session::Session;
use crate::machines::remote::{Remote, Way, has_rsync};

/// A server that ends with the test.
struct Sshd {
    child: Child,
    port: u16,
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn sshd() -> Option<PathBuf> {
    ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().map(PathBuf::from).find(|path| path.exists())
}

fn key(path: &Path) {
    let status = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status().unwrap();
    assert!(status.success());
}

/// Starts a server for the machine, and writes the ssh configuration of the user.
fn start(remote: &Remote, program: &Path, path: &str) -> Option<Sshd> {
    let (here, there) = (remote.here.dir("ssh"), remote.there.dir("ssh"));
    key(&here.join("id"));
    key(&there.join("host"));
    fs::copy(here.join("id.pub"), there.join("authorized")).unwrap();
    fs::create_dir_all("/run/sshd").unwrap_or_default();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = remote.there.write(
        "ssh/sshd_config",
        format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nPidFile none\nStrictModes no\nUsePAM no\n\
             AuthorizedKeysFile {keys}\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv HOME={home} PATH={path}\n",
            host = there.join("host").display(),
            keys = there.join("authorized").display(),
            home = remote.there.path().display(),
        ),
    );
    let child = Command::new(program).args(["-D", "-e", "-f"]).arg(config).stderr(Stdio::null()).spawn().ok()?;
    let server = Sshd { child, port };
    for _ in 0..100 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            configure(remote, &server);
            return Some(server);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    None
}

fn configure(remote: &Remote, server: &Sshd) {
    let dir = remote.here.path().join("ssh");
    let host = fs::read_to_string(remote.there.path().join("ssh/host.pub")).unwrap();
    fs::write(dir.join("known"), format!("[127.0.0.1]:{} {host}", server.port)).unwrap();
    let user = Command::new("id").arg("-un").output().unwrap();
    let text = format!(
        "Host box\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  IdentityFile {}\n  IdentitiesOnly yes\n  UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n",
        server.port,
        String::from_utf8(user.stdout).unwrap().trim(),
        dir.join("id").display(),
        dir.join("known").display(),
    );
    let config = remote.here.write("ssh/config", text);
    let words = format!("[sync]\nssh = [\"ssh\", \"-F\", {:?}]\n", config.to_str().unwrap());
    remote.here.write(".config/pitree/config.toml", words);
}

#[test]
fn sessions_are_mirrored_over_ssh() {
    let Some(program) = sshd() else {
        skipped("no sshd");
        return;
    };
    if !has_rsync() {
        return;
    }
    for way in [Way::Pitree, Way::Command] {
        let remote = Remote::unknown();
        let session = remote.there.session(&Session::new("abcdef12").asked("It's here", &["Hi"]));
        for number in 0..20 {
            remote.there.session(&Session::new(&format!("s{number}")).asked("Hello", &["Hi"]));
        }
        let Some(server) = start(&remote, &program, "/usr/bin:/bin") else {
            skipped("sshd does not start");
            return;
        };
        if way == Way::Pitree {
            remote.install();
        }
        let runtime = remote.here.dir("run");
        fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
        remote.ok(&["machine", "add", "box", "ssh:box"]);
        let state = remote.sync(&[]);
        assert_eq!((state["pitree"].is_null(), state["sessions"].as_u64()), (way == Way::Command, Some(21)), "{state}");
        remote.check();
        let shown = remote.run(&["machine", "sync", "-v"]).err;
        assert!(shown.contains("-o 'ConnectTimeout=8'") && shown.contains(" -T -- box"), "{shown}");
        let line = remote.ok(&["resume", "--print", "abcdef12"]);
        assert!(line.contains(" -t box 'cd /nowhere && pi --session "), "{line}");
        if way == Way::Pitree {
            remote.ok(&["rename", "abcdef12", "It's renamed; $(touch x) \"`"]);
            assert!(fs::read_to_string(&session).unwrap().contains("It's renamed; $(touch x)"));
            remote.check();
        }
        // An unknown host key, and a machine that is off.
        fs::write(remote.here.path().join("ssh/known"), "").unwrap();
        let failed = remote.run(&["machine", "sync"]);
        assert!(failed.err.contains("the host key is unknown") || failed.code == 0, "{failed:?}");
        drop(server);
        let failed = remote.run(&["machine", "sync"]);
        assert!(failed.code == 2, "{failed:?}");
        assert!(remote.ok(&["ls"]).lines().count() == 21, "offline sessions are listed");
    }
}

#[test]
fn without_rsync_there_the_reason_is_named() {
    let Some(program) = sshd().filter(|_| has_rsync()) else {
        skipped("no sshd");
        return;
    };
    let remote = Remote::unknown();
    remote.there.session(&Session::new("s1").asked("Hello", &["Hi"]));
    let tools = remote.there.dir("tools");
    for name in ["sh", "find", "stat", "date", "head"] {
        let from = ["/usr/bin", "/bin"].map(|dir| Path::new(dir).join(name));
        std::os::unix::fs::symlink(from.iter().find(|path| path.exists()).unwrap(), tools.join(name)).unwrap();
    }
    let Some(_server) = start(&remote, &program, tools.to_str().unwrap()) else {
        skipped("sshd does not start");
        return;
    };
    let added = remote.run(&["machine", "add", "box", "ssh:box"]);
    assert!(added.code == 2 && added.err.contains("rsync is missing there; install it: apt"), "{added:?}");
}
