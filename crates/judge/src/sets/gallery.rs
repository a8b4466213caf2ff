//! Shared runs of many machines beside each other, by question.

use record::folder::sha256_hex;
use record::gallery::{
    GALLERY_SCHEMA, Gallery, GalleryCell, GalleryMachine, GalleryQuestion, RefusedFile, unusual,
};
use record::parameters::Parameters;
use record::shared::{AnswerWord, SharedMethod, SharedQuestion, SharedRun, SharedVerdict};
use std::collections::{BTreeMap, BTreeSet};

/// Hex digits of a hash in an id.
const ID_DIGITS: usize = 8;

/// An accepted file.
#[derive(Clone, Debug)]
pub struct SharedFile {
    /// Name of the file.
    pub name: String,
    pub run: SharedRun,
}

/// Place of a question: its experiment, and the parameters that have another value than usual.
type QuestionKey<'a> = (&'a str, BTreeMap<&'a str, &'a str>);

/// The gallery of these files, and the files in its order. A file that another one repeats is refused. `usual_values` are those
/// of the parameters of each experiment.
pub fn gather(
    files: Vec<SharedFile>,
    mut refused: Vec<RefusedFile>,
    usual_values: BTreeMap<String, Parameters>,
) -> (Gallery, Vec<SharedFile>) {
    let (mut ids, mut kept) = (BTreeSet::new(), Vec::new());
    for file in files {
        let id = machine_id(&file.run);
        if ids.insert(id.clone()) {
            kept.push((id, file));
        } else {
            refused.push(RefusedFile {
                file: file.name,
                reason: "another file has the same run".to_owned(),
            });
        }
    }
    kept.sort_by(|(id, a), (other, b)| b.run.day.cmp(&a.run.day).then_with(|| id.cmp(other)));
    let machines = kept.iter().map(|(id, file)| GalleryMachine {
        id: id.clone(),
        file: file.name.clone(),
        day: file.run.day.clone(),
        overview: file.run.overview,
        version: file.run.version.clone(),
        machine: file.run.machine.clone(),
    });
    let machines = machines.collect();
    let files: Vec<SharedFile> = kept.into_iter().map(|(_, file)| file).collect();
    let gallery = Gallery {
        schema: GALLERY_SCHEMA,
        machines,
        questions: questions(&files, &usual_values),
        usual_values,
        refused,
    };
    (gallery, files)
}

/// A word for the machine of a run: processor, kernel, day, and digits of a hash of the run.
pub fn machine_id(run: &SharedRun) -> String {
    let text = format!("{} {} {}", run.machine.cpu, run.machine.kernel, run.day);
    let sealed = run.text().unwrap_or_default();
    // The processors of Arm have a number; an id begins with a letter.
    let slug = slug(&text);
    let first = if slug.starts_with(|c: char| c.is_ascii_digit()) {
        "cpu-"
    } else {
        ""
    };
    format!("{first}{slug}-{}", hashed(&sealed))
}

/// Name of the file of a run.
pub fn file_name(run: &SharedRun) -> String {
    let (cpu, kernel) = (slug(&run.machine.cpu), &run.machine.kernel);
    format!(
        "pagewise-{cpu}-{kernel}-{}{}",
        run.day,
        record::shared::SHARED_END
    )
}

fn slug(text: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            ' '
        }
    };
    let text: String = text.chars().map(plain).collect();
    let parts: Vec<&str> = text.split_whitespace().collect();
    parts.join("-").chars().take(44).collect()
}

fn hashed(text: &str) -> String {
    let mut digits = sha256_hex(&[text.as_bytes()]);
    digits.truncate(ID_DIGITS);
    digits
}

fn questions(
    files: &[SharedFile],
    usual_values: &BTreeMap<String, Parameters>,
) -> Vec<GalleryQuestion> {
    let mut by_key: BTreeMap<QuestionKey, Vec<Option<&SharedQuestion>>> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for question in &file.run.questions {
            let experiment = question.experiment.as_str();
            let unusual = unusual(usual_values, experiment, &question.parameters);
            let answers = by_key
                .entry((experiment, unusual))
                .or_insert_with(|| vec![None; files.len()]);
            answers[at] = Some(question);
        }
    }
    by_key
        .into_iter()
        .filter_map(|((experiment, unusual), answers)| {
            let method = method_of(&answers)?;
            let usual = answers.iter().flatten().find_map(|q| q.usual())?;
            // The newest run names the most parameters.
            let parameters = answers.iter().flatten().map(|q| &q.parameters).next()?;
            let key: String = unusual.iter().map(|(k, v)| format!("|{k}={v}")).collect();
            Some(GalleryQuestion {
                id: format!("{experiment}-{}", hashed(&key)),
                experiment: experiment.to_owned(),
                parameters: parameters.clone(),
                usual: usual.method.clone(),
                cells: answers
                    .iter()
                    .map(|question| cell((*question)?, &method))
                    .collect(),
                method,
            })
        })
        .collect()
}

/// Ranked methods other than the usual choice.
fn rivals(question: &SharedQuestion) -> impl Iterator<Item = &SharedMethod> {
    let methods = question.methods.iter().enumerate();
    methods
        .filter(|(at, method)| Some(*at) != question.baseline && method.ranked)
        .map(|(_, method)| method)
}

/// The method that is compared on all machines: recommended by most runs, then faster on most, then measured on most, then least
/// costly.
fn method_of(answers: &[Option<&SharedQuestion>]) -> Option<String> {
    let mut logs: BTreeMap<&str, ([usize; 2], Vec<f64>)> = BTreeMap::new();
    for question in answers.iter().flatten() {
        let mut names = BTreeSet::new();
        let is_used = question.answer.word == AnswerWord::Use;
        let choice = question.answer.method.filter(|_| is_used);
        let choice = choice.map(|at| question.methods[at].method.as_str());
        for method in rivals(question) {
            let Some(ratio) = method.ratio.filter(|_| names.insert(&method.method)) else {
                continue;
            };
            let ([recommended, faster], ratios) = logs.entry(&method.method).or_default();
            *recommended += usize::from(choice == Some(method.method.as_str()));
            *faster += usize::from(method.verdict == SharedVerdict::Faster);
            ratios.push(ratio.ratio.ln());
        }
    }
    let mean = |ratios: &[f64]| ratios.iter().sum::<f64>() / ratios.len() as f64;
    logs.into_iter()
        .max_by(|(_, (counts, ratios)), (_, (other, others))| {
            let counts = (counts, ratios.len()).cmp(&(other, others.len()));
            counts.then_with(|| mean(others).total_cmp(&mean(ratios)))
        })
        .map(|(name, _)| name.to_owned())
}

fn cell(question: &SharedQuestion, name: &str) -> Option<GalleryCell> {
    let method = rivals(question).find(|method| method.method == name)?;
    let choice = question.answer.method.map(|at| &question.methods[at]);
    Some(GalleryCell {
        ratio: method.ratio?,
        verdict: method.verdict,
        answer: question.answer.word,
        choice: choice.map(|method| method.method.clone()),
    })
}
