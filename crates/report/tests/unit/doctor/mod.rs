use super::*;

/// Names that templates make themselves, and one that the program tells of itself.
const OWN: [&str; 4] = ["install", "is_packaged", "loop", "range"];

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
    for line in derived
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\": "))
    {
        known[line.0] = serde_json::Value::Null;
    }
    let rows = &doctor.rows;
    let texts = rows
        .fact
        .iter()
        .map(|row| &row.text)
        .chain(rows.meaning.iter().map(|row| &row.text));
    let texts = texts.chain(
        rows.obstacle
            .iter()
            .flat_map(|row| [&row.what, &row.why, &row.remedy]),
    );
    let conditions = rows
        .meaning
        .iter()
        .map(|row| &row.when)
        .chain(rows.obstacle.iter().map(|row| &row.when));
    let mut names = std::collections::HashSet::new();
    for text in texts {
        names.extend(
            doctor
                .templates
                .template_from_str(text)
                .unwrap()
                .undeclared_variables(true),
        );
    }
    for condition in conditions {
        names.extend(
            doctor
                .templates
                .compile_expression(condition)
                .unwrap()
                .undeclared_variables(true),
        );
    }
    let unknown: Vec<&String> = names
        .iter()
        .filter(|n| !OWN.contains(&n.as_str()) && !is_known(&known, n))
        .collect();
    assert!(
        unknown.is_empty() && names.len() > 60,
        "{unknown:?} of {}",
        names.len()
    );
}

#[test]
fn a_machine_of_which_nothing_is_known_has_a_document() {
    let nothing = Environment::default();
    let obstacles = obstacles(&nothing, false);
    assert!(
        obstacles
            .iter()
            .all(|obstacle| !obstacle.what.is_empty() && !obstacle.why.is_empty()),
        "{obstacles:?}"
    );
    assert_eq!(document(&nothing, &obstacles, &[]).sections.len(), 3);
}

#[test]
fn a_bundle_holds_outcomes_and_nothing_private() {
    use record::machine::cgroup::MemoryGroup;
    use record::machine::tools::Java;
    use record::outcome::{Cause, Status};
    use record::summary::{NoteKind, Summary, WarningKind};
    let secret = || "SECRET".to_owned();
    let mut machine = Environment::default();
    let identity = &mut machine.identity;
    for field in [
        &mut identity.machine,
        &mut identity.boot,
        &mut identity.name,
        &mut identity.node,
    ] {
        *field = Some(secret());
    }
    machine.kernel.command_line = Some(secret());
    machine.cpu.smt_active = Some(true);
    machine.variables.insert("LD_PRELOAD".to_owned(), secret());
    machine.tools.programs.insert("gcc".to_owned(), secret());
    machine.tools.javas.push(Java {
        home: secret(),
        version: Some("17.0.2".to_owned()),
        ..Java::default()
    });
    machine.cgroups.memory.push(MemoryGroup {
        folder: secret(),
        swap_limit_bytes: Some(0),
        ..MemoryGroup::default()
    });
    let mut summary: Summary =
        serde_json::from_str(include_str!("../../fixtures/look.json")).unwrap();
    let file = summary
        .cells
        .iter_mut()
        .find(|cell| cell.outcome.status.word() == "untrusted" && cell.experiment == "read");
    file.expect("an untrusted cell of read")
        .parameters
        .insert("file".to_owned(), secret());
    let outcomes = summary
        .cells
        .iter_mut()
        .map(|cell| &mut cell.outcome)
        .filter(|outcome| outcome.status != Status::Ok);
    outcomes.for_each(|outcome| outcome.cause = Some(Cause::Written { text: secret() }));
    summary
        .notes
        .iter_mut()
        .for_each(|note| note.kind = NoteKind::Damaged { seen: secret() });
    for warning in &mut summary.warnings {
        (warning.at, warning.kind) = (secret(), WarningKind::Damaged { seen: secret() });
    }
    let own = summary
        .cells
        .iter_mut()
        .find(|cell| cell.outcome.status.word() == "refused")
        .expect("a refused cell");
    (own.cell, own.method) = (secret(), secret());
    let newest = bundle::Newest {
        kind: record::kind::Kind::Run,
        summary: Some(summary),
    };
    let document = bundle::document("7.8.9", false, &machine, &["c-O3"], Some(&newest), |cell| {
        cell.method != "SECRET"
    });
    let text = crate::markdown::render(&document);
    assert!(
        !text.contains("SECRET") && !text.contains("LD\\_PRELOAD"),
        "{text}"
    );
    for expected in ["7.8.9", "17.0.2", "147 ok", "9 refused", "c-O3", "read/"] {
        assert!(text.contains(expected), "{expected} is missing in {text}");
    }
    assert!(text.contains("\n- Logical CPUs share cores"), "{text}");
    assert!(
        text.lines()
            .any(|line| line.contains("left out") && line.contains("| 1 ")),
        "{text}"
    );
}
