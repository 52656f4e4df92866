//! The pi extension: installation writes files to pi's directory, and removal deletes all of them.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use serde_json::json;

use crate::command_line::pitree::Pitree;

/// Returns the files that `install` writes.
fn files(pitree: &Pitree) -> [PathBuf; 3] {
    let agent = pitree.home().join(".pi/agent");
    ["extensions/pitree/program", "extensions/pitree/index.ts", "skills/pitree/SKILL.md"].map(|file| agent.join(file))
}

fn texts(pitree: &Pitree) -> [Option<String>; 3] {
    files(pitree).map(|file| fs::read_to_string(file).ok())
}

/// Runs a command that must succeed and returns its messages.
fn said(pitree: &Pitree, args: &[&str]) -> String {
    let done = pitree.run(&[&["pi"], args].concat());
    assert_eq!((done.code, done.out.as_str()), (0, ""), "{args:?}: {}", done.err);
    done.err
}

#[test]
fn removal_deletes_all_installed_files() {
    let pitree = Pitree::new();
    let before = pitree.files();
    said(&pitree, &["install", "--dry-run"]);
    assert_eq!(pitree.files(), before);
    let [program, extension, skill] = files(&pitree);
    for _ in 0..2 {
        assert!(said(&pitree, &["install"]).contains(&format!("wrote {}", extension.display())));
        assert_eq!(fs::read_to_string(&program).unwrap(), env!("CARGO_BIN_EXE_pitree"));
        assert!(fs::read_to_string(&extension).unwrap().contains("export default"));
        assert_eq!(fs::read_to_string(&skill).unwrap(), pitree.run(&["skill"]).out);
    }
    let whole = pitree.files();
    assert!(said(&pitree, &["remove", "--dry-run"]).contains(&format!("would remove {}", skill.display())));
    assert_eq!(pitree.files(), whole);
    said(&pitree, &["remove"]);
    assert!(!extension.parent().unwrap().exists() && !skill.parent().unwrap().exists());
    assert_eq!(pitree.files(), before);
    assert!(said(&pitree, &["remove"]).contains("pitree is not installed in pi"));
}

#[test]
fn an_interrupted_install_is_completed_or_removed() {
    let pitree = Pitree::new();
    let before = pitree.files();
    said(&pitree, &["install"]);
    let whole = texts(&pitree);
    let record = files(&pitree)[0].with_file_name("installed.json");
    for (at, file) in files(&pitree).iter().enumerate() {
        let text = whole[at].clone().unwrap();
        for command in ["install", "remove"] {
            for (length, has_record) in
                [(0, true), (text.len() / 2, true), (text.len() / 2, false), (text.len(), false)]
            {
                let rest = &files(&pitree)[at + 1..];
                rest.iter().for_each(|rest| fs::remove_file(rest).unwrap());
                fs::write(file, &text[..length]).unwrap();
                fs::write(format!("{}.0123456789abcdef.pitree-new", file.display()), "half").unwrap();
                if !has_record {
                    fs::remove_file(&record).unwrap();
                }
                let said = said(&pitree, &[command]);
                assert!(!said.contains("kept"), "{said}");
                if command == "remove" {
                    assert_eq!(pitree.files(), before, "{length}");
                    self::said(&pitree, &["install"]);
                }
                assert_eq!(texts(&pitree), whole, "{length}");
                let left = fs::read_dir(file.parent().unwrap()).unwrap().count();
                assert_eq!(left, if at == 2 { 2 } else { 3 }, "no draft is left");
            }
        }
    }
}

#[test]
fn an_earlier_version_is_replaced_completely_or_kept() {
    let pitree = Pitree::new();
    said(&pitree, &["install"]);
    let [_, extension, _] = files(&pitree);
    let new = fs::read_to_string(&extension).unwrap();
    for text in ["// an earlier version\nwhole\n", "// an earlier ver"] {
        let record = json!({"version": 1, "files": {"index.ts": ["// an earlier version\nwhole\n"]}});
        fs::write(extension.with_file_name("installed.json"), record.to_string()).unwrap();
        fs::write(&extension, text).unwrap();
        assert!(!said(&pitree, &["install"]).contains("kept"));
        assert_eq!(fs::read_to_string(&extension).unwrap(), new);
    }
}

#[test]
fn edited_files_stay_unless_forced() {
    let pitree = Pitree::new();
    said(&pitree, &["install"]);
    let whole = texts(&pitree);
    for (at, file) in files(&pitree).iter().enumerate() {
        let edit = || fs::write(file, format!("{}edited\n", whole[at].as_ref().unwrap())).unwrap();
        edit();
        let before = pitree.files();
        for command in ["install", "remove"] {
            let said = said(&pitree, &[command, "--dry-run"]);
            assert_eq!(said.matches("kept").count(), 1, "{said}");
            assert_eq!(pitree.files(), before);
        }
        let kept = format!("kept {}: edited since pitree wrote it; --force replaces it", file.display());
        assert!(said(&pitree, &["install"]).contains(&kept));
        let kept = kept.replace("replaces", "deletes");
        assert!(said(&pitree, &["remove"]).contains(&kept));
        let left = texts(&pitree);
        assert!(left[at].as_ref().unwrap().ends_with("edited\n"));
        assert_eq!(left.iter().flatten().count(), 1, "the others are removed");
        said(&pitree, &["install", "--force"]);
        assert_eq!(texts(&pitree), whole);
        edit();
        said(&pitree, &["remove", "--force"]);
        assert_eq!(texts(&pitree), [None, None, None]);
        said(&pitree, &["install"]);
    }
}

#[test]
fn files_of_other_programs_stay() {
    let agents = Pitree::new();
    let agent = agents.home().join("agents");
    let pitree = agents.variable("PI_CODING_AGENT_DIR", agent.to_str().unwrap());
    let dir = agent.join("extensions/pitree");
    fs::create_dir_all(&dir).unwrap();
    fs::write(agent.join("own.ts"), "// pitree, worked on\n").unwrap();
    let stays = |what: &str, reason: &str| {
        let before = pitree.files();
        let theirs = |path: &PathBuf| path.starts_with(dir.strip_prefix(pitree.home()).unwrap());
        let of_theirs = || pitree.files().into_iter().filter(|(path, _)| theirs(path)).collect::<Vec<_>>();
        let files = of_theirs();
        assert!(said(&pitree, &["install"]).contains(reason), "{what}");
        assert_eq!(of_theirs(), files, "{what}");
        said(&pitree, &["remove"]);
        assert_eq!(pitree.files(), before, "{what}");
    };
    fs::write(dir.join("package.json"), "{}").unwrap();
    stays("an extension without our files", "in a directory with other files");
    fs::remove_file(dir.join("package.json")).unwrap();
    symlink(agent.join("own.ts"), dir.join("index.ts")).unwrap();
    said(&pitree, &["install"]);
    assert!(dir.join("index.ts").is_symlink() && said(&pitree, &["remove"]).contains("a symbolic link"));
    said(&pitree, &["install", "--force"]);
    assert!(!dir.join("index.ts").is_symlink());
    said(&pitree, &["remove"]);

    let work = agent.join("work");
    fs::create_dir(&work).unwrap();
    fs::write(work.join("index.ts"), "// mine\n").unwrap();
    symlink(&work, &dir).unwrap();
    stays("a linked directory", "a symbolic link");
    said(&pitree, &["install", "--force"]);
    assert!(!dir.is_symlink() && dir.join("program").exists());
    fs::remove_dir_all(&dir).unwrap();
    symlink(&work, &dir).unwrap();
    said(&pitree, &["remove", "--force"]);
    assert!(!dir.is_symlink());
    assert_eq!(fs::read_dir(&work).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(work.join("index.ts")).unwrap(), "// mine\n");
    assert_eq!(fs::read_to_string(agent.join("own.ts")).unwrap(), "// pitree, worked on\n");

    said(&pitree, &["install"]);
    fs::write(dir.join("notes"), "mine").unwrap();
    said(&pitree, &["remove"]);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "other files stay");
}
