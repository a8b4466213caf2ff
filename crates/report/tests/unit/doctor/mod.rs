use super::*;

/// Names that templates make themselves.
const OWN: [&str; 3] = ["install", "loop", "range"];

/// True if the path ends in a known field, or below one whose content is not known beforehand.
fn is_known(known: &serde_json::Value, name: &str) -> bool {
    let mut at = known;
    for part in name.split('.') {
        match at {
            serde_json::Value::Object(fields) if !fields.is_empty() => match fields.get(part) {
                Some(field) => at = field,
                None => return false,
            },
            _ => return true,
        }
    }
    true
}

#[test]
fn rows_name_only_fields_that_there_are() {
    let doctor = Doctor::new(&Environment::default());
    // Nulls are left in here: an absent fact has a name all the same.
    let mut known = serde_json::to_value(Environment::default()).unwrap();
    let derived = include_str!("../../../src/doctor/mod.rs");
    for line in derived.lines().filter_map(|line| line.trim().strip_prefix('"')?.split_once("\": ")) {
        known[line.0] = serde_json::Value::Null;
    }
    let rows = &doctor.rows;
    let texts = rows.fact.iter().map(|row| &row.text).chain(rows.meaning.iter().map(|row| &row.text));
    let texts = texts.chain(rows.obstacle.iter().flat_map(|row| [&row.what, &row.why, &row.remedy]));
    let conditions = rows.meaning.iter().map(|row| &row.when).chain(rows.obstacle.iter().map(|row| &row.when));
    let mut names = std::collections::HashSet::new();
    for text in texts {
        names.extend(doctor.templates.template_from_str(text).unwrap().undeclared_variables(true));
    }
    for condition in conditions {
        names.extend(doctor.templates.compile_expression(condition).unwrap().undeclared_variables(true));
    }
    let unknown: Vec<&String> = names.iter().filter(|n| !OWN.contains(&n.as_str()) && !is_known(&known, n)).collect();
    assert!(unknown.is_empty() && names.len() > 60, "{unknown:?} of {}", names.len());
}

#[test]
fn a_machine_of_which_nothing_is_known_has_a_document() {
    let nothing = Environment::default();
    let obstacles = obstacles(&nothing);
    assert!(obstacles.iter().all(|obstacle| !obstacle.what.is_empty() && !obstacle.why.is_empty()), "{obstacles:?}");
    assert_eq!(document(&nothing, &obstacles, &[]).sections.len(), 3);
}
