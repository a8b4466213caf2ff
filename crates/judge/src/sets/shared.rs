//! Shared runs: what may be told of a run, and whether what a stranger's file says can be true.

use super::{RunCell, SetQuestion, unit_logs};
use crate::sets::MeasuredCells;
use anyhow::{Context, Result, ensure};
use record::across::CellHeadline;
use record::experiment::Experiment;
use record::machine::cpu::{Cache, Cpu};
use record::machine::environment::Environment;
use record::outcome::{Outcome, Status};
use record::parameters::Parameters;
use record::plan::BATCH;
use record::shared::{
    AnswerWord, BuiltIn, MOST, SHARED_SCHEMA, SharedAnswer, SharedCache, SharedControl,
    SharedControls, SharedMachine, SharedMethod, SharedQuestion, SharedRatio, SharedRun,
    SharedVerdict, Vendor, plain_model, plain_release, short,
};
use record::summary::{CellSummary, GroupSummary, Ratio, Recommendation, Summary};

/// Names that a shared run may have beside a number.
const ARCHITECTURES: [&str; 6] = [
    "aarch64",
    "loongarch64",
    "ppc64le",
    "riscv64",
    "s390x",
    "x86_64",
];
const HYPERVISORS: [&str; 8] = [
    "Firecracker",
    "Hyper-V",
    "KVM",
    "QEMU",
    "VMware",
    "VirtualBox",
    "Xen",
    "bhyve",
];
const GOVERNORS: [&str; 6] = [
    "conservative",
    "ondemand",
    "performance",
    "powersave",
    "schedutil",
    "userspace",
];
const THP: [&str; 3] = ["always", "madvise", "never"];
const DEFRAG: [&str; 5] = ["always", "defer", "defer+madvise", "madvise", "never"];
/// Makers by what /proc/cpuinfo calls them; Arm's are numbers of implementers.
const VENDORS: [(&str, Vendor); 9] = [
    ("0x41", Vendor::Arm),
    ("0x46", Vendor::Fujitsu),
    ("0x48", Vendor::HiSilicon),
    ("0x61", Vendor::Apple),
    ("0xc0", Vendor::Ampere),
    ("AuthenticAMD", Vendor::AMD),
    ("GenuineIntel", Vendor::Intel),
    ("HygonGenuine", Vendor::Other),
    ("IBM/S390", Vendor::IBM),
];
/// The first day of which there is a run.
const FIRST_DAY: &str = "2026-01-01";
/// Factor by which the quotient of two methods' launches may lie outside of the interval of their ratio, which is paired.
const APART: f64 = 1.5;
/// Digits that a rounded figure may lack.
const ROUNDED: f64 = 1e-3;

/// A run with the number of its groups that cannot be shared.
pub struct SharedPart {
    pub run: SharedRun,
    pub left_out: usize,
}

/// A run as it is shared.
/// Errors: it was interrupted, is damaged or has nothing that may be shared.
pub fn share(
    summary: &Summary,
    environment: &Environment,
    built_in: &BuiltIn,
) -> Result<SharedPart> {
    ensure!(
        summary.damage().next().is_none(),
        "{} is damaged, and no such run is shared",
        summary.run
    );
    let questions: Vec<SharedQuestion> = summary
        .groups
        .iter()
        .filter_map(|group| question(summary, group, built_in))
        .collect();
    ensure!(
        !summary.is_interrupted(),
        "{} was interrupted, and only whole runs are shared",
        summary.run
    );
    ensure!(
        !questions.is_empty(),
        "{} has no comparison of built-in methods, and nothing else is shared",
        summary.run
    );
    let left_out = summary.groups.len() - questions.len();
    let run = SharedRun {
        schema: SHARED_SCHEMA,
        version: summary.version.clone(),
        day: summary.created.chars().take(10).collect(),
        machine: machine(environment),
        overview: summary.settings.is_overview,
        elapsed_s: short(summary.elapsed_s),
        margin: summary.settings.margin,
        controls: SharedControls {
            checks: summary.calibration.checks,
            spread: summary.calibration.spread.map(short),
            widened: short(summary.calibration.widened),
        },
        questions,
    };
    Ok(SharedPart { run, left_out })
}

fn known(names: &[&str], word: Option<&str>) -> Option<String> {
    let word = word?;
    names.contains(&word).then(|| word.to_owned())
}

fn machine(environment: &Environment) -> SharedMachine {
    let Environment {
        cpu,
        kernel,
        memory,
        huge_pages,
        ..
    } = environment;
    let is_virtual = environment.hypervisor.is_virtual();
    let hypervisor = environment.hypervisor.name();
    let mut hypervisors = HYPERVISORS.iter().filter(|_| is_virtual == Some(true));
    let mut governors = cpu.frequency.governors.iter();
    let first = governors.next();
    let governor = first.filter(|_| governors.next().is_none());
    SharedMachine {
        cpu: plain_model(cpu.model.as_deref().unwrap_or("unknown")),
        vendor: vendor(cpu),
        family_and_model: number(&cpu.family)
            .zip(number(&cpu.model_number))
            .map(|(family, model)| [family, model]),
        architecture: known(&ARCHITECTURES, kernel.architecture.as_deref())
            .unwrap_or_else(|| "other".to_owned()),
        cpus: [cpu.online, cpu.usable()].map(|count| count.unwrap_or(0)),
        caches: cpu.caches.iter().filter_map(cache).take(8).collect(),
        cache_reach_bytes: cpu
            .ladder
            .as_ref()
            .and_then(|l| l.reach())
            .map(|step| step.bytes),
        kernel: plain_release(kernel.release.as_deref().unwrap_or_default()),
        is_virtual,
        hypervisor: hypervisors
            .find(|name| hypervisor.contains(**name))
            .map(|name| (*name).to_owned()),
        memory_gib: (memory.total_bytes.unwrap_or(0) as f64 / f64::from(1 << 30)).round() as u64,
        nodes: memory.nodes.len(),
        page_bytes: memory.page_bytes.unwrap_or(0),
        thp: known(&THP, huge_pages.transparent().map(|(word, _)| word)),
        thp_defrag: known(&DEFRAG, huge_pages.thp_defrag.as_deref()),
        governor: known(&GOVERNORS, governor.map(String::as_str)),
        has_swap: memory.swap_bytes.is_some_and(|bytes| bytes > 0),
        reports_free_pages: environment.reclaim.reports_free_pages(),
    }
}

/// A number of /proc/cpuinfo, which Arm writes in hexadecimal digits.
fn number(text: &Option<String>) -> Option<u64> {
    let text = text.as_deref()?;
    let number = text.strip_prefix("0x").map_or_else(
        || text.parse().ok(),
        |digits| u64::from_str_radix(digits, 16).ok(),
    );
    number.filter(|number| *number <= u64::from(u16::MAX))
}

fn vendor(cpu: &Cpu) -> Vendor {
    let name = cpu.vendor.as_deref().unwrap_or_default();
    let maker = VENDORS.iter().find(|(known, _)| *known == name);
    maker.map_or(Vendor::Other, |(_, vendor)| *vendor)
}

fn cache(cache: &Cache) -> Option<SharedCache> {
    Some(SharedCache {
        level: cache.level?,
        instructions: cache.kind.as_deref() == Some("Instruction"),
        size_bytes: cache.size_bytes?,
        shared_by: cache.shared_by.unwrap_or(0),
    })
}

/// A comparison group; `None` where a part of it is the user's own.
fn question(summary: &Summary, group: &GroupSummary, built_in: &BuiltIn) -> Option<SharedQuestion> {
    let experiment = built_in.experiment(&group.experiment)?;
    let phase = experiment.headline();
    let is_known = |(key, value): (&String, &String)| built_in.has_value(experiment, key, value);
    let parameters = group.parameters.iter().filter(|(key, _)| *key != BATCH);
    if !parameters.clone().all(is_known) || summary.experiment(&experiment.name)?.headline != phase
    {
        return None;
    }
    let shown = group.cells.iter().copied().filter(|&cell| {
        let cell = &summary.cells[cell];
        !cell.hidden
            && built_in.has(&cell.experiment, &cell.method, &cell.worker)
            && cell
                .parameters
                .iter()
                .filter(|(key, _)| *key != BATCH)
                .all(is_known)
    });
    let cells: Vec<usize> = shown.collect();
    let place = |cell: usize| cells.iter().position(|&shown| shown == cell);
    let (word, cell) = match &group.recommendation {
        Recommendation::Use { cell, .. } => (AnswerWord::Use, Some(*cell)),
        Recommendation::Keep { cell } => (AnswerWord::Keep, Some(*cell)),
        Recommendation::Depends { cell, .. } => (AnswerWord::Depends, Some(*cell)),
        Recommendation::Inconclusive { cell } => (AnswerWord::Inconclusive, Some(*cell)),
        Recommendation::Nothing => (AnswerWord::Nothing, None),
    };
    let baseline = place(group.baseline?)?;
    Some(SharedQuestion {
        experiment: experiment.name.clone(),
        parameters: parameters
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        phase: phase.to_owned(),
        unit: experiment.unit.clone(),
        baseline: Some(baseline),
        control: group.aa.map(|check| SharedControl {
            ratio: ratio(&check.ratio),
            differs: check.differs,
            weak: check.weak,
        }),
        answer: SharedAnswer {
            word,
            method: cell.and_then(place),
        },
        methods: cells
            .iter()
            .map(|&cell| method(summary, group, cell, phase))
            .collect(),
    })
}

fn ratio(ratio: &Ratio) -> SharedRatio {
    SharedRatio {
        ratio: short(ratio.ratio),
        low: short(ratio.low.min(ratio.ratio)),
        high: short(ratio.high.max(ratio.ratio)),
        launches: ratio.launches,
    }
}

fn method(summary: &Summary, group: &GroupSummary, index: usize, phase: &str) -> SharedMethod {
    let cell = &summary.cells[index];
    let comparison = group.comparison(index, phase);
    let is_measured = cell.outcome.status == Status::Ok;
    let comparison = comparison.filter(|_| is_measured);
    let contrast = comparison.map(|comparison| comparison.contrast);
    let [_, _, most] = MOST;
    let logs = unit_logs(cell, phase).into_iter().take(most);
    let launches_ns: Vec<f64> = logs.map(|log| short(log.exp())).collect();
    SharedMethod {
        method: cell.method.clone(),
        worker: cell.worker.clone(),
        role: cell.role,
        ranked: cell.is_ranked(),
        options: options(cell, group),
        status: cell.outcome.status,
        laws_checked: cell.laws.values().map(|law| law.samples).sum(),
        laws_broken: cell.laws.values().map(|law| law.broken).sum(),
        per_unit_ns: middle(&launches_ns),
        launches_ns,
        ratio: contrast
            .and_then(|contrast| contrast.ratio)
            .map(|r| ratio(&r)),
        verdict: contrast.map_or(SharedVerdict::Open, |contrast| contrast.overall().into()),
    }
}

fn options(cell: &CellSummary, group: &GroupSummary) -> Parameters {
    let further = cell.parameters.iter();
    further
        .filter(|(key, _)| *key != BATCH && !group.parameters.contains_key(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// The median; of an even number the lower one, which is a value that was measured.
fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// Refuses a shared run that no run of this program can have made by `today`, `2026-11-29`.
/// Errors: a sentence without the file's name.
pub fn check(run: &SharedRun, built_in: &BuiltIn, today: &str) -> Result<()> {
    let day = run.day.as_str();
    ensure!(
        (FIRST_DAY..=today).contains(&day),
        "its day, {day}, is not between {FIRST_DAY} and {today}"
    );
    check_machine(&run.machine)?;
    ensure!(
        run.elapsed_s > 0.0 && run.margin > 0.0 && run.margin <= 0.5,
        "its time or its margin is out of range"
    );
    ensure!(!run.questions.is_empty(), "it has no question");
    for question in &run.questions {
        check_question(question, run.margin, built_in)
            .with_context(|| format!("{} cannot be right", question.experiment))?;
    }
    Ok(())
}

fn check_machine(machine: &SharedMachine) -> Result<()> {
    let named = [
        (&machine.hypervisor, &HYPERVISORS[..]),
        (&machine.thp, &THP[..]),
        (&machine.thp_defrag, &DEFRAG[..]),
        (&machine.governor, &GOVERNORS[..]),
    ];
    let architecture = machine.architecture.as_str();
    ensure!(
        (ARCHITECTURES.contains(&architecture) || architecture == "other")
            && machine.kernel == plain_release(&machine.kernel)
            && named.iter().all(|(fact, names)| {
                fact.as_ref()
                    .is_none_or(|name| names.contains(&name.as_str()))
            }),
        "a fact of its machine is none that a shared run has"
    );
    let [online, usable] = machine.cpus;
    ensure!(
        (1..=65_536).contains(&usable)
            && usable <= online
            && machine.memory_gib <= 1 << 20
            && machine.page_bytes.is_power_of_two()
            && (4096..=65_536).contains(&machine.page_bytes),
        "a number of its machine is out of range"
    );
    Ok(())
}

fn check_question(question: &SharedQuestion, margin: f64, built_in: &BuiltIn) -> Result<()> {
    let name = &question.experiment;
    let experiment = built_in
        .experiment(name)
        .context("this version has no such experiment")?;
    ensure!(
        question.phase == experiment.headline() && question.unit == experiment.unit,
        "another phase or unit is compared there"
    );
    check_values(question, experiment, built_in)?;
    let usual = question.usual().context("it has no usual choice")?;
    ensure!(
        usual.method == experiment.baseline || question.methods.len() > 1,
        "nothing is compared"
    );
    if let Some(control) = &question.control {
        ensure!(!control.differs, "its A/A check differs");
    }
    for method in &question.methods {
        ensure!(
            built_in.has(name, &method.method, &method.worker),
            "this version has no method {}",
            method.name()
        );
        check_method(method, usual, margin).context(method.name())?;
    }
    Ok(())
}

fn check_values(
    question: &SharedQuestion,
    experiment: &Experiment,
    built_in: &BuiltIn,
) -> Result<()> {
    let options = question.methods.iter().flat_map(|method| &method.options);
    for (key, value) in question.parameters.iter().chain(options) {
        ensure!(
            built_in.has_value(experiment, key, value),
            "{key}={value} is no value of it"
        );
    }
    Ok(())
}

fn check_method(method: &SharedMethod, usual: &SharedMethod, margin: f64) -> Result<()> {
    ensure!(
        method.laws_broken == 0 && method.status != Status::Untrusted,
        "a law was broken"
    );
    let is_measured = method.status == Status::Ok;
    ensure!(
        is_measured || method.launches_ns.is_empty() && method.ratio.is_none(),
        "what was not measured has no figures"
    );
    ensure!(
        method.per_unit_ns == middle(&method.launches_ns)
            && method.launches_ns.iter().all(|ns| *ns > 0.0),
        "its cost is not that of its launches"
    );
    let edges = (
        1.0 / (1.0 + margin) * (1.0 + ROUNDED),
        (1.0 + margin) * (1.0 - ROUNDED),
    );
    let agrees = |ratio: &SharedRatio| match method.verdict {
        SharedVerdict::Faster => ratio.high <= edges.0,
        SharedVerdict::Slower => ratio.low >= edges.1,
        SharedVerdict::Within => {
            ratio.low >= edges.0 / (1.0 + 2.0 * ROUNDED)
                && ratio.high <= edges.1 * (1.0 + 2.0 * ROUNDED)
        }
        SharedVerdict::Open => true,
    };
    let Some(ratio) = &method.ratio else {
        ensure!(
            method.verdict == SharedVerdict::Open,
            "a verdict needs a ratio"
        );
        return Ok(());
    };
    ensure!(agrees(ratio), "its verdict is not that of its interval");
    let [costs, usual] = [method, usual].map(|method| geometric(&method.launches_ns));
    let quotient = costs.zip(usual).map(|(cost, usual)| cost / usual);
    ensure!(
        quotient.is_none_or(|q| (ratio.low / APART..=ratio.high * APART).contains(&q)),
        "its ratio is not that of its launches"
    );
    Ok(())
}

fn geometric(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (sum / values.len() as f64).exp())
}

/// The methods of a shared run as cells of a comparison.
pub(super) fn measured(run: &SharedRun) -> MeasuredCells {
    let mut measured = MeasuredCells {
        questions: Vec::new(),
        cells: Vec::new(),
    };
    for question in &run.questions {
        let first = measured.questions.len();
        for method in &question.methods {
            let parameters = question.parameters.iter().chain(&method.options);
            measured.cells.push(RunCell {
                question: measured.questions.len(),
                outcome: Outcome {
                    status: method.status,
                    cause: None,
                },
                logs: method.launches_ns.iter().map(|ns| ns.ln()).collect(),
                throttled: None,
                is_disturbed: false,
            });
            measured.questions.push(SetQuestion {
                headline: CellHeadline {
                    cell: format!("{}/{}", question.experiment, method.name()),
                    experiment: question.experiment.clone(),
                    parameters: parameters.map(|(k, v)| (k.clone(), v.clone())).collect(),
                    phase: question.phase.clone(),
                    unit: question.unit.clone(),
                },
                advised: method.ranked,
                baseline: question.baseline.map(|at| first + at),
            });
        }
    }
    measured
}
