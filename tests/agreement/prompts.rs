//! What the model gets, message by message, against pi's `buildSessionContext`, `convertToLlm`, `estimateTokens` and
//! `estimateProjectedContextTokens` (`fixtures/golden/prompts.json`, made by `scripts/pi/prompts.mjs`).

use pitree::disk::files::Files;
use pitree::disk::{load, prompt};
use pitree::session::prompt::message::SentMessage;
use pitree::session::prompt::plan::{EntryOutcome, OmissionReason, Plan, PlannedPart};
use pitree::session::tree::Index;
use serde_json::{Value, json};

use crate::common::home::{json_lines, repository};
use crate::world::{World, assert_same, golden};

const MEANT: &[&str] = &[
    // Texts that are none: pi passes on what they are.
    "sessions/--home-dev-odd--/content-odd.jsonl entry 3 texts: pi 416072607, pitree 2631192158",
    "sessions/--home-dev-odd--/content-odd.jsonl entry 4 texts: pi 4087696679, pitree 653528526",
];

/// FNV-1a, 32 bits.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// What convertToLlm makes of messages that are sent and of those that providers leave out.
fn told(part: &PlannedPart, messages: &[SentMessage]) -> String {
    match part.outcome {
        EntryOutcome::Counted(OmissionReason::Excluded | OmissionReason::UnknownRole)
        | EntryOutcome::NoResult
        | EntryOutcome::LeftOut(_) => String::new(),
        EntryOutcome::Sent | EntryOutcome::Counted(_) => {
            messages.iter().map(|message| format!("{}\n{}\n", message.role.name(), message.text)).collect()
        }
    }
}

#[test]
fn messages_and_tokens_are_those_of_pi() {
    let golden: Value = serde_json::from_str(&golden("prompts.json")).unwrap();
    let mut found = Vec::new();
    let mut places = 0;
    for (file, pi) in golden.as_object().unwrap() {
        let path = repository("fixtures").join(file);
        let tree = load::tree(Files::Disk, &path, "").unwrap();
        for pi in pi.as_array().unwrap() {
            let at = pi["at"].as_u64().unwrap();
            let plan = Plan::new(&tree, Some(at as Index));
            let (mut tokens, mut texts) = (Vec::new(), String::new());
            let sum = prompt::each((Files::Disk, &path), (&tree, &plan), |part, messages| {
                tokens.extend(messages.iter().filter(|_| part.is_in_context()).map(|message| message.tokens));
                texts += &told(part, &messages);
                Ok(true)
            });
            let sum = sum.unwrap().unwrap();
            let mut differs = |what: &str, pi: &Value, pitree: Value| {
                if *pi != pitree && !pi.is_null() {
                    found.push(format!("{file} entry {at} {what}: pi {pi}, pitree {pitree}"));
                }
            };
            match &pi["tokens"] {
                Value::Array(pi) => {
                    differs("messages", &json!(pi.len()), json!(tokens.len()));
                    for (nth, (pi, pitree)) in pi.iter().zip(&tokens).enumerate() {
                        differs(&format!("tokens of message {nth}"), pi, json!(pitree));
                    }
                }
                pi => differs("tokens", pi, json!(tokens.iter().sum::<u64>())),
            }
            differs("total", &pi["total"], json!(sum.tokens(&plan) as u64));
            differs("texts", &pi["texts"], json!(hash(&texts)));
            let tools: Vec<&str> = sum.tools().collect();
            differs("tools", &json!(pi["tools"].as_str().unwrap_or_default()), json!(tools.join(",")));
            places += 1;
        }
    }
    assert!(places > 700, "{places}");
    assert_same(found, MEANT);
}

#[test]
fn the_command_says_what_pi_says_of_the_leaf() {
    let world = World::new();
    let prompts: Value = serde_json::from_str(&golden("prompts.json")).unwrap();
    let contexts: Value = serde_json::from_str(&golden("changes/contexts.json")).unwrap();
    let (mut found, mut files) = (Vec::new(), 0);
    for (file, pi) in prompts.as_object().unwrap() {
        let entries = world.tree(file).len() as u64;
        let is_leaf = |one: &&Value| one["at"].as_u64() == entries.checked_sub(1);
        let Some(pi) = pi.as_array().unwrap().last().filter(is_leaf) else { continue };
        let context = contexts[file].as_array().unwrap().last().filter(is_leaf).unwrap();
        let run = world.run(&["context", file, "--json", "--all"]);
        assert_eq!((run.code, &*run.err), (0, ""), "{file}");
        let lines = json_lines(&run.out);
        let last = lines.last().unwrap();
        let model = if context["model"] == json!({}) {
            json!({ "provider": "", "modelId": "" })
        } else {
            context["model"].clone()
        };
        for (field, pi) in [("tokens", &pi["total"]), ("model", &model), ("thinkingLevel", &context["thinkingLevel"])] {
            if !pi.is_null() && *pi != last[field] {
                found.push(format!("{file} {field}: pi {pi}, pitree {}", last[field]));
            }
        }
        files += 1;
    }
    assert!(files > 80, "{files}");
    assert_same(found, &[]);
}
