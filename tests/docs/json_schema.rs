//! The JSON Schema of the commands' output, generated from the tables of docs/json.md.

use serde_json::{Map, Value, json};

/// Returns the schema: one definition for each section with a table of fields, named after the words before ` --json`
/// or `:`.
pub(crate) fn of_page(page: &str) -> Value {
    let sections = page.split("\n## ").skip(1).filter(|section| section.contains("\n| field |"));
    let definitions: Map<String, Value> = sections.map(definition).collect();
    let any: Vec<Value> = definitions.keys().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Objects that pitree prints with --json",
        "description": "Generated from the tables in json.md. Each line of output is one of these objects.",
        "anyOf": any,
        "$defs": definitions,
    })
}

fn definition(section: &str) -> (String, Value) {
    let heading = section.lines().next().unwrap();
    let name = heading.split(':').next().unwrap().trim_end_matches(" --json").trim_start_matches("--");
    let mut object = empty_object();
    add(&mut object, "schema", json!({"const": 1}), true);
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches(|c| c == '|' || c == ' ').split(" | ").collect();
        let names: Vec<&str> = cells[0].split(", ").map(|name| name.trim_matches('`')).collect();
        let types: Vec<&str> = cells[1].split(", ").collect();
        for (at, name) in names.iter().enumerate() {
            // One type may apply to all names of a row.
            let type_name = if types.len() == 1 { types[0] } else { types.get(at).copied().unwrap_or_default() };
            let schema = schema(type_name).unwrap_or_else(|| panic!("{heading}: no type {type_name:?} of {name}"));
            add(&mut object, name.trim_start_matches('?'), schema, !name.starts_with('?'));
        }
    }
    (name.to_string(), object)
}

fn empty_object() -> Value {
    json!({"type": "object", "properties": {}, "required": []})
}

/// Adds a field; `a.b` is the field `b` of the objects in `a`.
fn add(object: &mut Value, name: &str, schema: Value, is_required: bool) {
    let Some((first, rest)) = name.split_once('.') else {
        if is_required {
            object["required"].as_array_mut().unwrap().push(name.into());
        }
        object["properties"][name] = schema;
        return;
    };
    let outer = &mut object["properties"][first];
    assert!(!outer.is_null(), "the row of {first} must be above that of {name}");
    let is_list = outer.get("items").is_some();
    let inner = if is_list { &mut outer["items"] } else { outer };
    if inner.get("properties").is_none() {
        inner["properties"] = json!({});
        inner["required"] = json!([]);
    }
    add(inner, rest, schema, is_required);
}

/// Returns the schema of a type; `None` for an unknown type.
fn schema(name: &str) -> Option<Value> {
    let (name, may_be_null) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
    let types = |names: &[&str]| {
        let all: Vec<&str> = names.iter().copied().chain(may_be_null.then_some("null")).collect();
        if let [one] = all[..] { json!(one) } else { json!(all) }
    };
    Some(match name {
        "text" => json!({"type": types(&["string"])}),
        "number" => json!({"type": types(&["number"])}),
        "text or number" => json!({"type": types(&["string", "number"])}),
        "text or boolean" => json!({"type": types(&["string", "boolean"])}),
        "boolean" => json!({"type": types(&["boolean"])}),
        "time" => json!({"type": types(&["string"]), "format": "date-time"}),
        "object" => json!({"type": types(&["object"])}),
        "list of objects" => json!({"type": types(&["array"]), "items": {"type": "object"}}),
        "list of text" => json!({"type": types(&["array"]), "items": {"type": "string"}}),
        "list of ranges" => json!({"type": types(&["array"]), "items": {
            "type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2,
        }}),
        _ => return None,
    })
}
