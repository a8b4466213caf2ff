//! Questions with an independent program each (`benches/truth/table.toml`), for the benches that hold ours against it.

use anyhow::{Result, ensure};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;

const TABLE: &str = include_str!("../truth/table.toml");

#[derive(Deserialize)]
pub struct Table {
    pub row: Vec<Row>,
}

/// One question in one condition.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Question and condition.
    pub name: String,
    /// The program's file below `truth/`, without its ending.
    pub program: String,
    /// Its words before the ways; `FILE` and `FOLDER` are replaced.
    pub words: Vec<String>,
    pub experiment: String,
    /// Values of all parameters that have more than one.
    pub set: Vec<String>,
    /// Phase or total; the headline where it is not named.
    pub total: Option<String>,
    /// Seconds of a turn of ours, where the usual ones hold no launch of each method.
    pub seconds: Option<u64>,
    /// Each method with the program's name for it, the baseline first.
    pub ways: Vec<(String, String)>,
}

/// Processes of an independent program in a turn, for each way: where a process's memory lies moves its times by up to 20 %.
/// One process takes one way, as a user's program does: what another way leaves in the caches and among the free pages moves
/// a copy of 16 MiB twofold and a huge page's fault by 40 %.
const PROCESSES: usize = 3;

/// All questions.
pub fn table() -> Result<Table> {
    Ok(toml::from_str(TABLE)?)
}

impl Row {
    /// The program of the question, compiled into a folder by the optimization of the usual worker, as a user's program.
    pub fn compiled(&self, place: &Path) -> Result<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/truth");
        let program = place.join(&self.program);
        if !program.exists() {
            let mut compiler = Command::new("cc");
            compiler
                .args(["-O3", "-pthread", "-o"])
                .arg(&program)
                .arg(folder.join(format!("{}.c", self.program)));
            ensure!(
                compiler.status()?.success(),
                "{}.c does not compile",
                self.program
            );
        }
        Ok(program)
    }

    /// Nanoseconds of a sample of each way, by processes of the program: the median of what they print.
    pub fn times(&self, program: &Path, place: &Path) -> Result<Vec<Option<f64>>> {
        let word = |word: &String| match word.as_str() {
            "FILE" => place.join("file").into_os_string(),
            "FOLDER" => place.as_os_str().to_owned(),
            _ => word.into(),
        };
        let mut text = String::new();
        for (_, way) in std::iter::repeat_n(&self.ways, PROCESSES).flatten() {
            let output = Command::new(program)
                .args(self.words.iter().map(word))
                .arg(way)
                .output()?;
            text += &String::from_utf8_lossy(&output.stdout);
            ensure!(
                output.status.success(),
                "{}: {text}{}",
                self.name,
                String::from_utf8_lossy(&output.stderr)
            );
        }
        let time = |(_, way): &(String, String)| {
            let lines = text
                .lines()
                .filter_map(|line| line.strip_prefix(way)?.strip_prefix(' '));
            let figures = lines.filter_map(|rest| rest.split(' ').next()?.parse().ok());
            median(figures.collect())
        };
        Ok(self.ways.iter().map(time).collect())
    }

    /// The words of a run that asks the question of these of its ways.
    pub fn question(&self, ways: &[(String, String)]) -> Vec<String> {
        let cells = ways
            .iter()
            .map(|(method, _)| format!("{}/{method}@c-O3", self.experiment));
        let set = self
            .set
            .iter()
            .flat_map(|set| ["--set".to_owned(), set.clone()]);
        let baseline = ["--baseline".to_owned(), self.ways[0].0.clone()];
        cells.chain(set).chain(baseline).collect()
    }
}

/// The median; none of none.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
