//! pitree as a part of pi: what is written into pi's directory, and that all of it goes again.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use crate::pitree::Pitree;

#[test]
fn what_install_writes_remove_removes() {
    let pitree = Pitree::new();
    let before = pitree.files();
    let dry = pitree.run(&["pi", "install", "--dry-run"]);
    assert_eq!((dry.code, pitree.files()), (0, before.clone()));
    let agent = pitree.home().join(".pi/agent");
    let (dir, skill) = (agent.join("extensions/pitree"), agent.join("skills/pitree"));
    for _ in 0..2 {
        let done = pitree.run(&["pi", "install"]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.err.contains(&format!("wrote {}", dir.join("index.ts").display())), "{}", done.err);
        assert_eq!(fs::read_to_string(dir.join("program")).unwrap(), env!("CARGO_BIN_EXE_pitree"));
        assert!(fs::read_to_string(dir.join("index.ts")).unwrap().contains("export default"));
        assert_eq!(fs::read_to_string(skill.join("SKILL.md")).unwrap(), pitree.run(&["skill"]).out);
    }
    assert_eq!(pitree.run(&["pi", "remove"]).code, 0);
    assert!(!dir.exists() && !skill.exists());
    assert_eq!(pitree.files(), before);
    assert!(pitree.run(&["pi", "remove"]).err.contains("nothing of pitree is in pi's directory"));
}

#[test]
fn what_is_somebody_elses_stays() {
    let agents = Pitree::new();
    let agent = agents.home().join("agents");
    let pitree = agents.variable("PI_CODING_AGENT_DIR", agent.to_str().unwrap());
    let dir = agent.join("extensions/pitree");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("index.ts"), "// mine\n").unwrap();
    let stays = |what: &str| {
        let before = pitree.files();
        for command in ["install", "remove"] {
            let refused = pitree.run(&["pi", command]);
            assert_eq!(refused.code, 2, "{what}: {}", refused.err);
            assert!(refused.err.contains("is not pitree's"), "{what}: {}", refused.err);
            assert_eq!(pitree.files(), before, "{what}");
        }
    };
    stays("another extension");
    fs::rename(dir.join("index.ts"), dir.join("notes")).unwrap();
    stays("a folder with something in it");
    fs::write(agent.join("own.ts"), "// pitree, worked on\n").unwrap();
    symlink(agent.join("own.ts"), dir.join("index.ts")).unwrap();
    stays("a link");
    fs::remove_file(dir.join("index.ts")).unwrap();
    fs::remove_file(dir.join("notes")).unwrap();
    let skill = agent.join("skills/pitree");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: pitree-of-mine\n---\n").unwrap();
    stays("another skill");
    fs::remove_file(skill.join("SKILL.md")).unwrap();
    assert_eq!(pitree.run(&["pi", "install"]).code, 0);
    fs::write(dir.join("notes"), "mine").unwrap();
    assert_eq!(pitree.run(&["pi", "remove"]).code, 0);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "what was put beside it stays");
    assert!(!skill.exists());
}
