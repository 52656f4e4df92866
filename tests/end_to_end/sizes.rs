//! Files of any size and type: memory use and timeouts. Memory is the peak that the system measured for a process.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::effort::{rounds, skipped};
use crate::end_to_end::home::{Home, Session, session};

pub(crate) const MB: u64 = 1024 * 1024;

/// A timeout far longer than any step here takes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the peak memory of a process so far, in bytes; `None` if the system does not report it, or the process has
/// ended.
pub(crate) fn peak(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kb = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"))?;
    Some(kb.parse::<u64>().unwrap() * 1024)
}

/// Runs pitree; returns its output and its peak memory.
fn run(home: &Home, args: &[&str]) -> (String, u64) {
    let (mut output, writer) = std::io::pipe().unwrap();
    let mut command = home.command(args);
    let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
    drop(command); // the command holds the other end of the pipe
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        output.read_to_string(&mut text).map(|_| text)
    });
    let (mut most, end) = (0, Instant::now() + TIMEOUT);
    while child.try_wait().unwrap().is_none() {
        most = most.max(peak(child.id()).unwrap_or_default());
        if Instant::now() >= end {
            child.kill().unwrap();
            panic!("{args:?} takes too long");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    (reading.join().unwrap().unwrap(), most)
}

/// Writes a sparse file of `bytes` bytes; `behind` follows the hole.
fn with_hole(path: &Path, before: &str, bytes: u64, behind: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = File::create(path).unwrap();
    file.write_all(before.as_bytes()).unwrap();
    file.set_len(bytes).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file.write_all(behind.as_bytes()).unwrap();
}

#[test]
fn files_without_a_session_header_are_not_read_further() {
    let home = Home::new();
    home.session(&session("sound", home.path(), "a sound session"));
    with_hole(&home.sessions().join("--project--/hole.jsonl"), "", 20_000 * MB, "");
    with_hole(&home.sessions().join("--project--/other.jsonl"), "{\"type\":\"title\"}\n", 20_000 * MB, "");
    let hole = home.sessions().join("--project--/hole.jsonl");
    for args in [&["ls"][..], &["search", "sound"], &["search", "--all", "sound"], &["tree", hole.to_str().unwrap()]] {
        let (out, most) = run(&home, args);
        assert_eq!(out.contains("sound session"), args[0] != "tree", "{args:?}: {out}");
        assert!(most < 100 * MB, "{args:?} took {} MB", most / MB);
    }
    let pitree = home.open(&[]);
    pitree.wait_for("1 session ·");
    pitree.wait_without("reading");
    assert!(peak(pitree.pid()).unwrap_or_default() < 100 * MB);
    pitree.quit();
}

#[test]
fn too_long_lines_are_identified_by_their_start() {
    let home = Home::new();
    let sound = session("long", home.path(), "a prompt");
    let before = sound.text() + r#"{"type":"message","id":"big","parentId":"a2","message":{"role":"user","content":""#;
    let behind =
        format!("\"}}}}\n{}", session("x", home.path(), "behind").under("big").user("u9", "behind it").lines());
    let behind = behind.lines().filter(|line| !line.contains("\"u1\"") && !line.contains("\"a2\""));
    let behind: String = behind.map(|line| line.to_string() + "\n").collect();
    let path = home.sessions().join("--project--/long.jsonl");
    with_hole(&path, &before, 300 * MB, &behind);
    let path = path.to_str().unwrap();
    let (out, most) = run(&home, &["tree", path]);
    for text in ["a prompt", "[message: too long to read]", "behind it", "1 line is too long to read (at byte"] {
        assert!(out.contains(text), "no {text:?} in {out}");
    }
    assert!(most < 400 * MB, "{} MB", most / MB);
    let (out, most) = run(&home, &["tree", "--json", path]);
    for text in ["a prompt", r#""id":"big","parentId":"a2""#, "[message: too long to read]", "behind it"] {
        assert!(out.contains(text), "no {text:?} in {out}");
    }
    assert!(most < 400 * MB, "{} MB", most / MB);
    let commands = [&["search", "--all", "behind"][..], &["search", "prompt"], &["ls"]];
    for args in &commands[..rounds(1, commands.len())] {
        let (out, most) = run(&home, args);
        assert!(out.contains("a prompt") || out.contains("behind it"), "{args:?}: {out}");
        assert!(most < 400 * MB, "{args:?} took {} MB", most / MB);
    }
    let length = fs::metadata(path).unwrap().len();
    let (_, most) = run(&home, &["rename", path, "A name"]);
    assert!(most < 400 * MB, "{} MB", most / MB);
    let mut end = String::new();
    let mut file = File::open(path).unwrap();
    file.seek(SeekFrom::Start(length)).unwrap();
    file.read_to_string(&mut end).unwrap();
    assert!(end.contains("\"parentId\":\"u9\"") && end.contains("A name"), "{end}");
    let mut pitree = home.launch(&[]).size(240, 30).open();
    pitree.wait_for("A name");
    pitree.send("l");
    pitree.wait_for("[message: too long to read]");
    pitree.send("/too long\r");
    pitree.wait_selected("[message: too long to read]");
    pitree.wait_for("too long to read: 315 MB at byte");
    // The scan and the tree can each hold the longest line that is read, 256 MB.
    assert!(peak(pitree.pid()).unwrap_or_default() < 600 * MB);
    pitree.send("q");
}

/// Creates a session with one user message that has the given JSON content.
fn said(content: &str) -> String {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n";
    format!("{header}{{\"type\":\"message\",\"id\":\"a\",\"message\":{{\"role\":\"user\",\"content\":{content}}}}}\n")
}

/// Returns the peak memory of a browser that shows the end of the only session.
fn looked_at(text: &str) -> Option<u64> {
    let home = Home::new();
    home.write(home.sessions().join("--project--/s.jsonl"), text);
    let mut pitree = home.launch(&[]).size(160, 30).open();
    pitree.wait_for("1 session ·");
    pitree.wait_without("reading");
    pitree.send("lG\t");
    pitree.wait_for("you  ");
    pitree.send("G");
    pitree.wait_for("END");
    let most = peak(pitree.pid());
    pitree.quit();
    most
}

#[test]
fn memory_of_a_session_is_bounded_by_its_size() {
    let many = |piece: &str| piece.repeat(1_500_000 / piece.len());
    let blocks =
        |block: &str| said(&format!("[{}{{\"type\":\"text\",\"text\":\"THE END\"}}]", many(&format!("{block},"))));
    let text = |piece: &str| said(&format!("\"{}THE END\"", many(piece)));
    let label = |at: usize| {
        let (id, target) = (format!("{at:08x}"), format!("{:08x}", at.saturating_sub(1)));
        let time = "2026-01-01T00:00:00.000Z";
        format!(
            "{{\"type\":\"label\",\"id\":\"{id}\",\"parentId\":\"{target}\",\"timestamp\":\"{time}\",\"targetId\":\"{target}\",\"label\":\"l\"}}\n"
        )
    };
    let labels: String = (0..12_000).map(label).collect();
    let end = said("\"THE END\"");
    let labels = format!("{}{labels}{}", said("\"x\""), end.split_once('\n').unwrap().1);
    let Some(least) = looked_at(&end) else { return skipped("the system does not say what a process takes") };
    for (name, session) in [
        ("line breaks", text("\\n")),
        ("list", text("- *a* `b`\\n")),
        ("table", text("|a|b|\\n|-|-|\\n")),
        ("quotes", text("> ")),
        (
            "nesting",
            said(&format!(
                "[{{\"a\":{}{}}},{{\"type\":\"text\",\"text\":\"THE END\"}}]",
                "[".repeat(500_000),
                "]".repeat(500_000)
            )),
        ),
        ("blocks", blocks("{}")),
        ("numbers", blocks("1")),
        ("calls", blocks("{\"type\":\"toolCall\"}")),
        ("labels", labels),
    ] {
        let took = looked_at(&session).unwrap().saturating_sub(least);
        let bytes = session.len() as u64;
        assert!(took < 6 * bytes + 12 * MB, "{name}: {} MB for {} MB", took / MB, bytes / MB);
    }
}

#[test]
fn too_many_short_lines_are_not_a_session() {
    let header = said("1").split_once('\n').unwrap().0.to_string() + "\n";
    for (name, line) in [("ones", "1\n"), ("objects", "{}\n"), ("types", "{\"type\":\"x\"}\n")] {
        let home = Home::new();
        home.session(&session("sound", home.path(), "a sound session"));
        let path = home.sessions().join(format!("--project--/{name}.jsonl"));
        home.write(&path, header.clone() + &line.repeat(4_000_000 / line.len()));
        for args in [&["ls"][..], &["tree", path.to_str().unwrap()]] {
            let (out, most) = run(&home, args);
            assert!(out.contains("too many lines for the size"), "{name}, {args:?}: {out}");
            assert!(most < 80 * MB, "{name}, {args:?} took {} MB", most / MB);
        }
    }
}

#[test]
fn a_session_can_be_replaced_with_any_file() {
    let home = Home::new();
    home.session(&Session::new("sound").at(100).asked("a sound session", &["an answer"]));
    let path = home.session(&session("other", home.path(), "another session"));
    let pitree = home.launch(&[]).size(240, 30).open();
    pitree.wait_for("2 sessions ·");
    pitree.wait_for("another session");
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    pitree.wait_for("1 session ·");
    pitree.wait_without("another session");
    pitree.quit();
    for args in [&["tree", path.to_str().unwrap()][..], &["rename", path.to_str().unwrap(), "x"]] {
        run(&home, args);
    }
    // Files that the system generates on reading may never end.
    fs::remove_file(&path).unwrap();
    if Path::new("/proc/self/maps").exists() {
        std::os::unix::fs::symlink("/proc/self/maps", &path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", path.with_file_name("zero.jsonl")).unwrap();
    } else {
        skipped("there is no /proc");
    }
    let (out, _) = run(&home, &["ls"]);
    assert!(out.contains("a sound session"), "{out}");
}

/// The common parts of branches are replayed once, even if there is a branch at each entry of a long session.
#[test]
fn abandoned_branches_are_recovered_in_one_pass() {
    let home = Home::new();
    let write = |text: &str| json!({"path": "a.txt", "content": text});
    let mut session = Session::new("comb").user("w-1r", "Begin");
    for at in 0..10_000 {
        let above = format!("w{}r", at - 1);
        session = session.under(&above).tool(&format!("b{at}"), "write", &write("b"), "ok");
        session = session.under(&above).tool(&format!("w{at}"), "write", &write("w"), "ok");
    }
    home.session(&session);
    let to = home.path().join("out");
    let (out, most) = run(&home, &["recover", "comb", "--abandoned", "--to", to.to_str().unwrap()]);
    assert_eq!(out.lines().count(), 10_000);
    assert!(most < 200 * MB, "{} MB", most / MB);
}

#[test]
fn a_large_session_is_forked_with_little_memory() {
    let home = Home::new();
    let text = "x".repeat(MB as usize);
    let large =
        (0..60).fold(Session::new("large").cwd(home.path()), |session, at| session.user(&format!("u{at}"), &text));
    home.session(&large);
    run(&home, &["ls"]); // the index needs the whole text once
    let (out, most) = run(&home, &["fork", "large@u59"]);
    let fork = out.lines().find(|line| line.ends_with(".jsonl") && line.starts_with('/')).unwrap();
    assert!(fs::metadata(fork).unwrap().len() > 60 * MB);
    assert!(most < 90 * MB, "{} MB", most / MB);
}
