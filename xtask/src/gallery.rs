//! The gallery of this repository: a shared file of each real machine, and their site. A machine whose whole run is in
//! `docs/evidence/runs` is shared from there; the one at hand is measured where no overview of its processor is here yet.

use crate::Failure;
use crate::command::{cargo, output, run};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs of the evidence that are shared, one of each machine.
const RUNS: [&str; 2] = ["amd", "same-day-1"];
/// Folder of the site, which git ignores.
const SITE: &str = "target/gallery";
/// Folder of the run of the machine at hand, which git ignores.
const RUN: &str = "target/gallery-run";
/// The picture of the front page in README.
const PICTURE: &str = "docs/images/gallery.svg";
/// Options of that run: an overview with every condition, begun when nothing else runs.
const OVERVIEW: [&str; 5] = ["run", "--budget", "3min", "--wait-for-quiet", "10min"];

/// A processor by its name and the numbers that tell apart those that a hypervisor gives one name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Processor {
    name: String,
    numbers: Option<[u64; 2]>,
}

/// Writes `gallery/shared` and the site anew, with the machine at hand where its processor is missing.
pub fn make(root: &Path) -> Result<(), Failure> {
    run(cargo(
        root,
        &["build", "--release", "--package", "pagewise"],
    ))?;
    let program = root.join("target/release/pagewise");
    let shared = root.join("gallery/shared");
    fs::create_dir_all(&shared).map_err(|error| format!("{}: {error}", shared.display()))?;
    for name in RUNS {
        share(
            &program,
            &shared,
            &root.join("docs/evidence/runs").join(name),
        )?;
    }
    let index = output(
        Command::new(&program)
            .args(["gallery", "--check", "--json"])
            .arg(&shared),
    )?;
    let machine = output(Command::new(&program).args(["doctor", "--json"]))?;
    match missing(&index, &machine)? {
        None => println!("The gallery has an overview of the processor at hand."),
        Some(processor) => {
            println!(
                "{} has no overview in the gallery: it is measured now. Leave the machine alone.",
                processor.name
            );
            let folder = root.join(RUN);
            // A run that an earlier call could not share, or did not end.
            let _ = fs::remove_dir_all(&folder);
            let mut measure = Command::new(&program);
            measure.args(OVERVIEW).arg("--out").arg(&folder);
            run(measure)?;
            share(&program, &shared, &folder)?;
        }
    }
    let mut gallery = Command::new(&program);
    gallery
        .args(["gallery", "gallery/shared", "--force", "--html", SITE])
        .current_dir(root);
    run(gallery)?;
    let drawing = root.join(SITE).join("picture.svg");
    fs::copy(&drawing, root.join(PICTURE)).map_err(|e| format!("{}: {e}", drawing.display()))?;
    println!("{}", root.join(SITE).join("index.html").display());
    Ok(())
}

/// Writes the shared file of a run into a folder.
fn share(program: &Path, shared: &Path, folder: &Path) -> Result<(), Failure> {
    let mut share = Command::new(program);
    share
        .args(["share", "--force"])
        .arg(folder)
        .current_dir(shared);
    run(share)
}

/// The processor at hand, where no overview of it is in the gallery. `index` is what `gallery --check --json` prints, `machine`
/// what `doctor --json` does.
fn missing(index: &str, machine: &str) -> Result<Option<Processor>, Failure> {
    let [index, machine] = [index, machine].map(|text| {
        serde_json::from_str::<Value>(text).map_err(|error| format!("no JSON: {error}"))
    });
    let (index, machine) = (index?, machine?);
    let here = at_hand(&machine);
    let machines = index["machines"].as_array().ok_or("no gallery's index")?;
    let has_overview = machines
        .iter()
        .filter(|file| file["overview"] == true)
        .any(|file| shared_processor(&file["machine"]).as_ref() == Some(&here));
    Ok(Some(here).filter(|_| !has_overview))
}

fn shared_processor(machine: &Value) -> Option<Processor> {
    let numbers = machine["family_and_model"].as_array();
    Some(Processor {
        name: machine["cpu"].as_str()?.to_owned(),
        numbers: numbers.and_then(|pair| Some([pair.first()?.as_u64()?, pair.get(1)?.as_u64()?])),
    })
}

/// The processor of a machine's facts, as a shared file has it.
fn at_hand(machine: &Value) -> Processor {
    let cpu = &machine["cpu"];
    let model = cpu["model"].as_str().unwrap_or("unknown");
    let kept = |c: &char| c.is_ascii_alphanumeric() || " ()@.+-".contains(*c);
    let model: String = model.chars().filter(kept).take(64).collect();
    let parts: Vec<&str> = model.split_whitespace().collect();
    Processor {
        name: parts.join(" "),
        numbers: number(&cpu["family"])
            .zip(number(&cpu["model_number"]))
            .map(|(family, model)| [family, model]),
    }
}

fn number(fact: &Value) -> Option<u64> {
    let text = fact.as_str()?;
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EPYC: &str = r#"{"cpu": {"model": "AMD EPYC", "family": "25", "model_number": "17"}}"#;

    fn index(overview: bool, model: u64) -> String {
        let machine = json!({ "cpu": "AMD EPYC", "family_and_model": [25, model] });
        json!({ "machines": [{ "overview": overview, "machine": machine }] }).to_string()
    }

    #[test]
    fn a_processor_is_missing_until_an_overview_of_it_is_there() {
        let here = Processor {
            name: "AMD EPYC".to_owned(),
            numbers: Some([25, 17]),
        };
        assert_eq!(missing(&index(true, 17), EPYC), Ok(None));
        // A part of the questions is no overview, and another model of the same name is another processor.
        for others in [
            index(false, 17),
            index(true, 1),
            r#"{"machines": []}"#.to_owned(),
        ] {
            assert_eq!(missing(&others, EPYC), Ok(Some(here.clone())), "{others}");
        }
    }

    #[test]
    fn the_name_at_hand_is_that_of_a_shared_file() {
        let arm = json!({ "cpu": { "model": "Neoverse-N1 \u{2122}  r3", "family": "8", "model_number": "0x3" } });
        let wanted = Processor {
            name: "Neoverse-N1 r3".to_owned(),
            numbers: Some([8, 3]),
        };
        assert_eq!(at_hand(&arm), wanted);
        assert!(missing("{}", "{}").is_err() && missing("no", "{}").is_err());
    }

    #[test]
    fn the_runs_that_are_shared_are_in_the_evidence() {
        let runs = crate::root().join("docs/evidence/runs");
        for name in RUNS {
            assert!(runs.join(name).join("plan.json").is_file(), "{name}");
        }
    }
}
