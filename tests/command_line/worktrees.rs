//! Worktrees of a git repository as one project.

use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::repository::Repository;
use crate::common::session::Session;

/// Writes a session in the main working tree and two in the linked worktree, each of which reads a file.
fn sample() -> (Pitree, Repository) {
    let pitree = Pitree::new();
    let repository = Repository::new(pitree.home());
    let dirs = [repository.main.clone(), repository.linked.clone(), repository.linked.join("web")];
    for (id, dir) in ["main-1", "fix-1", "web-1"].into_iter().zip(dirs) {
        let file = dir.join("a.rs");
        let [prompt, answer, tool] = ["u", "a", "t"].map(|kind| format!("{kind}-{id}"));
        let session = Session::new(id).cwd(&dir).costing(1.0).user(&prompt, "Begin").assistant(&answer, "Begun");
        pitree.write_session(&session.tool(&tool, "read", &json!({ "path": file.to_str().unwrap() }), "text"));
    }
    (pitree, repository)
}

/// Returns the values of a field in the order of the IDs.
fn field(pitree: &Pitree, args: &[&str], key: &str, field: &str) -> Vec<Value> {
    let mut all: Vec<(String, Value)> = pitree
        .objects(args)
        .into_iter()
        .filter(|line| line.get(field).is_some() && line["type"] != "total")
        .map(|line| (line[key].as_str().unwrap_or_default().to_owned(), line[field].clone()))
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all.into_iter().map(|(_, value)| value).collect()
}

#[test]
fn sessions_in_worktrees_belong_to_the_project_of_the_main_working_tree() {
    let (pitree, repository) = sample();
    let main = repository.main.to_str().unwrap();
    let web = repository.main.join("web");
    for is_removed in [false, true] {
        if is_removed {
            repository.remove_worktree();
        }
        let ls = ["ls", "--json"];
        assert_eq!(field(&pitree, &ls, "id", "project"), [json!(main), json!(main), json!(web)]);
        assert_eq!(field(&pitree, &ls, "id", "worktree"), [json!("fix"), Value::Null, json!("fix")]);
        let stats = ["stats", "--by", "project", "--json"];
        assert_eq!(field(&pitree, &stats, "key", "sessions"), [json!(2), json!(1)]);
        assert_eq!(field(&pitree, &["files", "--json"], "path", "sessions"), [json!(2), json!(1)]);
        let space = pitree.objects(&["space", "--json"]);
        let projects = space.iter().filter(|line| line["type"] == "project").map(|line| line["sessions"].clone());
        assert_eq!(projects.collect::<Vec<_>>(), [json!(2), json!(1)]);
        let found = |query: &str| field(&pitree, &["ls", "--json", query], "id", "id");
        assert_eq!(found("worktree:fix-4"), [json!("fix-1"), json!("web-1")]);
        assert_eq!(found("Begin -worktree:fix"), [json!("main-1")]);
        assert_eq!(found(&format!("in:{main}")), [json!("fix-1"), json!("main-1"), json!("web-1")]);
        assert_eq!(found("in:w/fix"), [json!("fix-1"), json!("web-1")]);
        let of_project = ["ls", "--json", "--project", main];
        assert_eq!(field(&pitree, &of_project, "id", "id"), [json!("fix-1"), json!("main-1"), json!("web-1")]);
        let hits = ["search", "--json", "Begin"];
        assert_eq!(field(&pitree, &hits, "id", "project"), [json!("app"), json!("app"), json!("web")]);
        assert_eq!(field(&pitree, &hits, "id", "worktree"), [json!("fix"), Value::Null, json!("fix")]);
    }
}

#[test]
fn hits_in_a_removed_worktree_are_recognized_by_git() {
    let (pitree, repository) = sample();
    pitree.write_session(&Session::new("fix-2").cwd(&repository.linked).user("u-fix-2", "Only here"));
    // git knows it until it is pruned, and no earlier run has recorded it.
    std::fs::remove_dir_all(&repository.linked).unwrap();
    let hits = ["search", "--json", "Only here"];
    assert_eq!(field(&pitree, &hits, "id", "worktree"), [json!("fix")]);
    assert_eq!(field(&pitree, &hits, "id", "project"), [json!("app")]);
}

#[test]
fn a_setting_separates_worktrees() {
    let (pitree, repository) = sample();
    std::fs::create_dir_all(pitree.home().join(".config/pitree")).unwrap();
    std::fs::write(pitree.home().join(".config/pitree/config.toml"), "group-worktrees = false\n").unwrap();
    let (main, linked) = (repository.main.to_str().unwrap(), repository.linked.to_str().unwrap());
    let projects = field(&pitree, &["ls", "--json"], "id", "project");
    assert_eq!(projects, [json!(linked), json!(main), json!(repository.linked.join("web"))]);
    assert_eq!(field(&pitree, &["stats", "--by", "project", "--json"], "key", "sessions").len(), 3);
    assert_eq!(field(&pitree, &["ls", "--json", "--project", main], "id", "id"), [json!("main-1")]);
    assert_eq!(field(&pitree, &["ls", "--json", "worktree:fix"], "id", "id"), [json!("fix-1"), json!("web-1")]);
}
