//! A gallery in sentences: machines, questions, verdicts on other people's machines.

use super::numbers::spaced;
use super::wording::count;
use record::cell::display_value;
use record::experiment::{Experiment, ParameterKind};
use record::gallery::{GalleryCell, GalleryQuestion};
use record::shared::{AnswerWord, SharedMachine, SharedRun, SharedVerdict};
use record::sizes::format_size;
use std::collections::BTreeMap;

/// A machine in a line: processor, CPUs, kernel, hypervisor.
pub(crate) fn machine(machine: &SharedMachine) -> String {
    let [_, usable] = machine.cpus;
    let cpus = count(usize::try_from(usable).unwrap_or(usize::MAX), "CPU");
    format!(
        "{}, {cpus}, Linux {}, {}",
        machine.processor(),
        machine.kernel,
        hypervisor(machine)
    )
}

/// A processor's name without the marks of its maker's lawyers.
pub(crate) fn plain_name(name: &str) -> String {
    name.replace("(R)", "").replace("(TM)", "")
}

/// Numbers that tell apart processors of one name.
pub(crate) fn family_and_model(machine: &SharedMachine) -> Option<String> {
    let [family, model] = machine.family_and_model?;
    Some(format!("family {family}, model {model}"))
}

/// Run of a machine in a few words.
pub(crate) fn extent(is_overview: bool) -> &'static str {
    if is_overview {
        "overview"
    } else {
        "a part of the questions"
    }
}

/// Verdicts on one method by many machines, in a line: faster, slower, neither.
pub(crate) fn verdicts([faster, slower, neither]: [usize; 3]) -> String {
    let parts = [
        (faster, "faster on"),
        (slower, "slower on"),
        (neither, "no verdict on"),
    ];
    let parts = parts.into_iter().filter(|(machines, _)| *machines > 0);
    let parts: Vec<String> = parts
        .map(|(machines, word)| format!("{word} {machines}"))
        .collect();
    parts.join(", ")
}

pub(crate) fn hypervisor(machine: &SharedMachine) -> String {
    match (machine.is_virtual, &machine.hypervisor) {
        (Some(false), _) => "bare metal".to_owned(),
        (Some(true), Some(name)) => format!("virtual ({name})"),
        (Some(true), None) => "virtual".to_owned(),
        (None, _) => "virtual or not: unknown".to_owned(),
    }
}

/// Facts of a machine with their names.
pub(crate) fn facts(machine: &SharedMachine) -> Vec<(&'static str, String)> {
    let [online, usable] = machine.cpus;
    let maker: &str = machine.vendor.into();
    let caches: Vec<String> = machine
        .caches
        .iter()
        .filter(|cache| !cache.instructions)
        .map(|cache| {
            format!(
                "L{} {}",
                cache.level,
                spaced(&format_size(cache.size_bytes))
            )
        })
        .collect();
    let text = |fact: &Option<String>| fact.clone().unwrap_or_else(|| "unknown".to_owned());
    vec![
        ("processor", machine.processor()),
        ("maker", maker.to_owned()),
        ("architecture", machine.architecture.clone()),
        ("CPUs", format!("{usable} of {online}")),
        ("data caches", caches.join(", ")),
        ("kernel", machine.kernel.clone()),
        ("machine", hypervisor(machine)),
        ("memory", format!("{} GiB", machine.memory_gib)),
        ("NUMA nodes", machine.nodes.to_string()),
        ("page", spaced(&format_size(machine.page_bytes))),
        ("transparent huge pages", text(&machine.thp)),
        ("effort of a fault for them", text(&machine.thp_defrag)),
        ("frequency governor", text(&machine.governor)),
        (
            "swap",
            if machine.has_swap { "yes" } else { "no" }.to_owned(),
        ),
        (
            "free pages go back to the host",
            if machine.reports_free_pages {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
        ),
    ]
}

pub(crate) fn verdict(verdict: SharedVerdict) -> &'static str {
    match verdict {
        SharedVerdict::Faster => "faster",
        SharedVerdict::Within => "within the margin",
        SharedVerdict::Slower => "slower",
        SharedVerdict::Open => "open",
    }
}

/// Class of the style for a verdict.
pub(crate) fn tone(verdict: SharedVerdict) -> &'static str {
    match verdict {
        SharedVerdict::Faster => "faster",
        SharedVerdict::Slower => "slower",
        SharedVerdict::Within | SharedVerdict::Open => "open",
    }
}

/// The answer of a run to a question.
pub(crate) fn answer(cell: &GalleryCell) -> String {
    let choice = cell.choice.as_deref().unwrap_or("a method");
    match cell.answer {
        AnswerWord::Use => format!("use {choice}"),
        AnswerWord::Keep => format!("{choice} is as good as any"),
        AnswerWord::Depends => "it depends: the run's other rows name the condition".to_owned(),
        AnswerWord::Inconclusive => "open".to_owned(),
        AnswerWord::Nothing => "no answer".to_owned(),
    }
}

/// `mmap instead of read`.
pub(crate) fn contrast(question: &GalleryQuestion) -> String {
    format!("{} instead of {}", question.method, question.usual)
}

/// Conditions of a question in words, of the parameters in `keys`.
pub(crate) fn conditions(
    parameters: &BTreeMap<String, String>,
    experiment: Option<&Experiment>,
    keys: &dyn Fn(&str) -> bool,
) -> String {
    let mut parts = Vec::new();
    for (key, value) in parameters.iter().filter(|(key, _)| keys(key)) {
        let parameter = experiment.and_then(|experiment| experiment.parameters.get(key));
        let clause = parameter.and_then(|parameter| parameter.when.get(value));
        let is_size = parameter.is_some_and(|p| p.kind == ParameterKind::Size);
        parts.push(match clause {
            Some(clause) => format!("if {clause}"),
            None => format!("{key}={}", display_value(value, is_size)),
        });
    }
    parts.join(", ")
}

/// Everything that a shared file holds, a line each.
pub(crate) fn content(run: &SharedRun) -> Vec<(&'static str, String)> {
    let methods: usize = run.questions.iter().map(|q| q.methods.len()).sum();
    let mut content = facts(&run.machine);
    content.extend([
        ("day", run.day.clone()),
        ("Pagewise", run.version.clone()),
        ("comparisons", run.questions.len().to_string()),
        ("methods in them", methods.to_string()),
    ]);
    content
}

/// Parts of a run that its shared file does not have.
pub(crate) const NOT_SHARED: &str = "Not in the file: names of the host and of users, paths, commands, addresses, file names, \
    and experiments or methods of your own.";

pub(crate) fn left_out(groups: usize) -> Option<String> {
    (groups > 0).then(|| {
        format!(
            "{} left out: a method, a file or a value is not built in, or the usual choice was not measured.",
            count(groups, "comparison")
        )
    })
}
