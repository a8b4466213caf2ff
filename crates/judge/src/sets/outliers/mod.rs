//! Many machines' runs compared with each other: which kinds of node there are, which node is unlike its kind, what the kinds
//! say together. A node is the unit of inference; runs and launches are levels below it.

use crate::sets::{MeasuredCells, machines, shared};
use crate::summarise::rounded;
use anyhow::{Context, Result};
use gathered::{Table, table};
use merged::Merging;
use record::folder::{Damaged, RunFolder, SUMMARY, sha256_hex};
use record::outliers::{Fault, OUTLIERS_SCHEMA, OutlierSearch, Unread};
use record::shared::{SHARED_END, SharedRun};
use record::{kind::Kind, machine::environment::Environment, summary::Summary};
use std::{collections::BTreeMap, path::Path};

mod gathered;
mod kinds;
mod merged;
mod odd;

pub use gathered::{Gathered, NodeRun};
pub use kinds::{BY, UNSHARED, facts};

/// The fact by which runs are put together that one host made. It is none of a kind's.
pub const HOST: &str = "host";

/// Of what is called odd, the share that may be wrongly called so (Benjamini & Hochberg), over all nodes and cells.
const MOST_WRONG: f64 = 0.01;

/// Verdicts on many machines. A node is an outlier only where it differs by more than `margin`, a share.
pub fn judge(gathered: &Gathered, by: &[String], margin: f64) -> OutlierSearch {
    // By host, the runs of a host are the units that are compared with those of another.
    let by_run = by
        .iter()
        .any(|fact| fact == HOST)
        .then(|| gathered.by_run());
    let gathered = by_run.as_ref().unwrap_or(gathered);
    let nodes = gathered::nodes(gathered);
    let kinds = kinds::kinds(&nodes, by);
    let tables: Vec<Table> = kinds
        .iter()
        .map(|kind| table(&nodes, &kind.nodes))
        .collect();
    let odd = odd::odd(gathered, &nodes, &kinds, &tables, margin);
    let merging = Merging {
        gathered,
        nodes: &nodes,
        kinds: &kinds,
        tables: &tables,
        odd: odd.iter().map(|node| node.node.as_str()).collect(),
        margin,
    };
    let (kinds, compared) = (merging.groups(), merging.compared());
    let rerun = odd
        .iter()
        .filter(|node| node.confirmed != Some(true))
        .map(|node| node.node.clone())
        .collect();
    rounded(OutlierSearch {
        schema: OUTLIERS_SCHEMA,
        margin,
        nodes: nodes.len(),
        runs: gathered.runs.len(),
        kinds,
        compared,
        odd,
        rerun,
        unread: gathered.unread.clone(),
    })
}

/// Outliers whose facts are looked at: reading them again takes time.
const EXPLAINED: usize = 50;

/// One run folder as it was read, before it is gathered: folders may be read side by side. Its run has no cells yet.
pub struct OpenedFolder {
    folder: String,
    read: Result<(NodeRun, MeasuredCells), Fault>,
}

/// Reads one run folder: its summary if that follows from its launches, else its transcripts.
pub fn open(path: &Path) -> OpenedFolder {
    OpenedFolder {
        folder: path.display().to_string(),
        read: take(path),
    }
}

/// A shared run as it was read. It names no machine, so each is one of its own.
pub fn of_shared(path: &Path, run: Result<SharedRun>) -> OpenedFolder {
    OpenedFolder {
        folder: path.display().to_string(),
        read: run.and_then(|run| shared_run(path, &run)).map_err(damaged),
    }
}

fn shared_run(path: &Path, run: &SharedRun) -> Result<(NodeRun, MeasuredCells)> {
    let hash = sha256_hex(&[run.text()?.as_bytes()]);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let node = NodeRun {
        folder: String::new(),
        run: hash.clone(),
        name: name.trim_end_matches(SHARED_END).to_owned(),
        machine: hash,
        known_by: kinds::shared_facts(run),
        cells: Vec::new(),
    };
    Ok((node, shared::measured(run)))
}

/// Takes a folder into what was gathered.
pub fn gather(gathered: &mut Gathered, OpenedFolder { folder, read }: OpenedFolder) {
    match read {
        Ok((run, measured)) => {
            let cells = gathered.questions.take(&measured);
            gathered.add(NodeRun {
                folder,
                cells,
                ..run
            });
        }
        Err(fault) => gathered.unread.push(Unread { folder, fault }),
    }
}

fn take(path: &Path) -> Result<(NodeRun, MeasuredCells), Fault> {
    let folder = opened(path).map_err(damaged)?;
    if folder.is_only_begun() {
        return Err(Fault::Begun);
    }
    let kind = folder.kind().map_err(damaged)?;
    if matches!(kind, Kind::Try | Kind::Profile) {
        return Err(Fault::OtherKind {
            kind: kind.word().to_owned(),
        });
    }
    // A run of another version is another fault than a damaged one.
    folder.plan().map_err(|error| {
        if error.is::<Damaged>() {
            damaged(error)
        } else {
            Fault::Foreign {
                error: format!("{error:#}"),
            }
        }
    })?;
    let environment: Environment = folder.read_sealed("environment.json").map_err(damaged)?;
    let summary = summary(&folder).map_err(damaged)?;
    if let Some(damage) = summary.damage().next() {
        return Err(Fault::Damaged {
            error: damage.to_owned(),
        });
    }
    if summary.cells.iter().all(|cell| cell.per_launch.is_empty()) {
        return Err(if folder.has(SUMMARY) {
            Fault::Empty
        } else {
            Fault::NoLaunch
        });
    }
    let host = &environment.identity;
    let name = host
        .node
        .clone()
        .or_else(|| host.name.clone())
        .or_else(|| host.machine.clone());
    let measured = MeasuredCells::read(&summary).map_err(damaged)?;
    let run = NodeRun {
        folder: String::new(),
        known_by: facts(&environment, &summary.version),
        run: summary.run,
        name: name.unwrap_or_else(|| "unknown".to_owned()),
        machine: host.machine.clone().unwrap_or_default(),
        cells: Vec::new(),
    };
    Ok((run, measured))
}

fn damaged(error: anyhow::Error) -> Fault {
    Fault::Damaged {
        error: format!("{error:#}"),
    }
}

/// The summary of a folder, judged again where there is none that follows from its launches.
fn summary(folder: &RunFolder) -> Result<Summary> {
    if let Ok(summary) = folder.read_result(SUMMARY) {
        return Ok(summary);
    }
    let (_, summary) = crate::replay(folder)?;
    Ok(summary)
}

fn opened(path: &Path) -> Result<RunFolder> {
    let name = path.to_str().context("its name is no text")?;
    RunFolder::open(name, Path::new("/nonexistent"))
        .ok()
        .with_context(|| "it has no plan.json, which is a run's first file")
}

/// Adds the facts in which outliers differ from an ordinary node of their kind, as far as these can be read.
pub fn explain(search: &mut OutlierSearch, gathered: &Gathered) {
    let odd: Vec<String> = search.odd.iter().map(|node| node.node.clone()).collect();
    let mut ordinary: BTreeMap<String, Option<Environment>> = BTreeMap::new();
    for node in search.odd.iter_mut().take(EXPLAINED) {
        let ordinary = ordinary.entry(node.kind.clone()).or_insert_with(|| {
            let kind = search.kinds.iter().find(|kind| kind.name == node.kind)?;
            let name = kind.nodes.iter().find(|name| !odd.contains(name))?;
            let run = gathered::nodes(gathered)
                .into_iter()
                .find(|node| node.name == *name)?
                .runs[0];
            environment(&run.folder)
        });
        let node_facts = node.folders.last().and_then(|folder| environment(folder));
        let Some((ordinary, node_facts)) = ordinary.as_ref().zip(node_facts) else {
            continue;
        };
        node.facts = machines::differences(ordinary, &node_facts)
            .into_iter()
            .filter(|fact| fact.matters && !fact.field.starts_with("identity."))
            .collect();
    }
}

fn environment(folder: &str) -> Option<Environment> {
    let folder = opened(Path::new(folder)).ok()?;
    folder.read_sealed("environment.json").ok()
}

#[cfg(test)]
mod tests {
    //! Sets of simulated nodes, with the scatter that recorded runs have.

    use record::across::CellHeadline;
    use record::outcome::{Cause, Outcome, Status};
    use record::outliers::{Fault, Finding, KindFacts, OutlierSearch};
    use record::summary::Verdict;
    use stats::rng::Seeded;

    use super::{BY, Gathered, HOST, NodeRun, judge};
    use crate::sets::{RunCell, SetQuestion};

    /// Scatter of nodes, of runs of a node and of launches of a run: between what quiet machines and shared ones showed.
    const SCATTER: [f64; 3] = [0.03, 0.01, 0.04];

    /// Cells: how many there are, and what each costs, in nanoseconds.
    const COSTS: [f64; 6] = [180.0, 95.0, 60.0, 400.0, 33.0, 1250.0];

    fn normal(rng: &mut Seeded) -> f64 {
        (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0
    }

    /// One in twenty nodes lies three times as far off as the others: machines are not normally distributed.
    fn node_level(rng: &mut Seeded) -> f64 {
        let heavy = if rng.below(20) == 0 { 3.0 } else { 1.0 };
        SCATTER[0] * heavy * normal(rng)
    }

    fn by() -> Vec<String> {
        BY.map(str::to_owned).to_vec()
    }

    fn question(number: usize) -> SetQuestion {
        let headline = CellHeadline {
            cell: format!("fault/m{number}@c-O3"),
            experiment: "fault".to_owned(),
            parameters: [("bytes".to_owned(), "2097152".to_owned())].into(),
            phase: "time to usable".to_owned(),
            unit: "page".to_owned(),
        };
        SetQuestion {
            headline,
            advised: true,
            baseline: Some(0),
        }
    }

    /// A run of a node whose cells cost `factor(cell)` times what they cost on its kind.
    fn run(
        rng: &mut Seeded,
        name: &str,
        id: usize,
        kernel: &str,
        factor: impl Fn(usize) -> f64,
    ) -> NodeRun {
        let level = node_level(rng);
        let mut cells = Vec::new();
        for (question, cost) in COSTS.iter().enumerate() {
            let log = cost.ln()
                + level
                + factor(question).ln()
                + SCATTER[0] * normal(rng)
                + SCATTER[1] * normal(rng);
            cells.push(RunCell {
                question,
                outcome: Outcome::OK,
                logs: (0..8).map(|_| log + SCATTER[2] * normal(rng)).collect(),
                throttled: None,
                is_disturbed: false,
            });
        }
        let facts = [("kernel", kernel), ("cpu", "x")]
            .map(|(n, f)| (n.to_owned(), f.to_owned()))
            .into();
        NodeRun {
            folder: format!("/shared/{name}/{id}"),
            run: format!("{name}-{id}"),
            name: name.to_owned(),
            machine: name.to_owned(),
            known_by: KindFacts {
                facts,
                memory_bytes: Some(64 << 30),
            },
            cells,
        }
    }

    /// Nodes of which every `nodes / 12`th node is odd in one of four ways; the names of these.
    fn simulated(nodes: usize, seed: u64) -> (Gathered, Vec<String>) {
        let mut rng = Seeded::new(seed);
        let mut gathered = Gathered::default();
        (0..COSTS.len()).for_each(|number| {
            gathered.questions.index(question(number));
        });
        let mut odd = Vec::new();
        for number in 0..nodes {
            let name = format!("n{number}");
            let fault = (number % (nodes / 12) == 5 && odd.len() < 12).then_some(odd.len() % 4);
            gathered.add(run(&mut rng, &name, 0, "6.1", |cell| {
                factor_of_a_fault(fault, cell)
            }));
            odd.extend(fault.map(|_| name));
        }
        (gathered, odd)
    }

    /// Half the frequency; one slow path; huge pages that are none; a neighbour that takes a third.
    fn factor_of_a_fault(fault: Option<usize>, cell: usize) -> f64 {
        match (fault, cell) {
            (Some(0), _) => 2.0,
            (Some(1), 3) => 3.0,
            (Some(2), 1 | 2) => 2.2,
            (Some(3), _) => 1.6,
            _ => 1.0,
        }
    }

    /// Number of outliers found, and number of false ones.
    fn found(search: &OutlierSearch, odd: &[String]) -> (usize, usize) {
        let right = search.odd.iter().filter(|n| odd.contains(&n.node)).count();
        (right, search.odd.len() - right)
    }

    #[test]
    fn twelve_odd_nodes_are_found_among_five_hundred() {
        let mut wrong = 0;
        for seed in 0..5 {
            let (gathered, odd) = simulated(500, 17 + seed);
            let judged = judge(&gathered, &by(), 0.05);
            let (right, false_ones) = found(&judged, &odd);
            assert_eq!(
                right,
                12,
                "seed {seed}: {:?}",
                judged.odd.iter().map(|n| &n.node).collect::<Vec<_>>()
            );
            assert!(false_ones <= 1, "seed {seed}");
            wrong += false_ones;
            assert_eq!(judged.rerun.len(), judged.odd.len());
            assert!(judged.kinds.len() == 1 && judged.compared.is_empty());
        }
        assert!(wrong <= 2, "{wrong} false ones in five sets");
    }

    #[test]
    #[ignore = "ten thousand nodes: cargo test --release -p pagewise-judge ten_thousand -- --ignored"]
    fn twelve_odd_nodes_are_found_among_ten_thousand() {
        for seed in 0..3 {
            let (gathered, odd) = simulated(10_000, 1_000 + seed);
            let (right, false_ones) = found(&judge(&gathered, &by(), 0.05), &odd);
            assert!(
                right == 12 && false_ones <= 1,
                "seed {seed}: {right} found, {false_ones} false"
            );
        }
    }

    #[test]
    fn nodes_without_an_odd_one_have_none() {
        let mut rng = Seeded::new(4);
        let mut gathered = Gathered::default();
        (0..COSTS.len()).for_each(|number| {
            gathered.questions.index(question(number));
        });
        (0..60).for_each(|n| gathered.add(run(&mut rng, &format!("n{n}"), 0, "6.1", |_| 1.0)));
        assert_eq!(judge(&gathered, &by(), 0.05).odd, []);
    }

    /// Eight nodes of one kind, five of another with a third less cost in cell 4, and one alone.
    fn two_kinds(rng: &mut Seeded) -> Gathered {
        let mut gathered = Gathered::default();
        (0..COSTS.len()).for_each(|number| {
            gathered.questions.index(question(number));
        });
        (0..8).for_each(|n| gathered.add(run(rng, &format!("a{n}"), 0, "6.1", |_| 1.0)));
        for n in 0..5 {
            let name = format!("b{n}");
            gathered.add(run(rng, &name, 0, "6.12", |cell| {
                if cell == 4 { 0.5 } else { 1.0 }
            }));
        }
        gathered.add(run(rng, "c0", 0, "5.4", |_| 4.0));
        gathered
    }

    #[test]
    fn kinds_are_compared_and_one_that_is_alone_is_not_called_odd() {
        let judged = judge(&two_kinds(&mut Seeded::new(9)), &by(), 0.05);
        let names: Vec<(&str, usize)> = judged
            .kinds
            .iter()
            .map(|k| (k.name.as_str(), k.nodes.len()))
            .collect();
        assert_eq!(names, [("A", 8), ("B", 5), ("C", 1)]);
        assert!(judged.kinds[2].too_few && judged.odd.is_empty());
        assert_eq!(judged.kinds[1].differences[0].field, "kernel");
        assert_eq!(judged.compared.len(), 1);
        let cells = &judged.compared[0].cells;
        for cell in cells {
            let is_faster = matches!(cell.contrast.verdict, Verdict::Faster { .. });
            assert_eq!(
                is_faster,
                cell.headline.cell == "fault/m4@c-O3",
                "{cells:#?}"
            );
        }
        let methods = &judged.kinds[0].methods;
        assert_eq!(methods.len(), COSTS.len() - 1);
        assert!(
            methods
                .iter()
                .all(|m| m.contrast.ratio.is_some_and(|ratio| ratio.ratio < 1.0)
                    == matches!(m.contrast.verdict, Verdict::Faster { .. }))
        );
    }

    /// Four runs of each of two hosts, of which the second takes half as long in one cell.
    #[test]
    fn by_host_the_runs_of_a_host_are_the_units() {
        let mut rng = Seeded::new(21);
        let mut gathered = Gathered::default();
        (0..COSTS.len()).for_each(|number| {
            gathered.questions.index(question(number));
        });
        for id in 0..4 {
            gathered.add(run(&mut rng, "slow", id, "6.1", |_| 1.0));
            gathered.add(run(&mut rng, "fast", id, "6.1", |cell| {
                if cell == 2 { 0.5 } else { 1.0 }
            }));
        }
        let judged = judge(&gathered, &[HOST.to_owned()], 0.05);
        let facts: Vec<&str> = judged
            .kinds
            .iter()
            .map(|kind| kind.facts[HOST].as_str())
            .collect();
        assert_eq!((facts, judged.nodes), (vec!["fast", "slow"], 8));
        let ratio = |cell: &str| {
            let cells = &judged.compared[0].cells;
            let cell = cells.iter().find(|compared| compared.headline.cell == cell);
            cell.unwrap().contrast.verdict
        };
        assert!(
            matches!(ratio("fault/m2@c-O3"), Verdict::Slower { .. }),
            "{judged:#?}"
        );
        assert!(!matches!(ratio("fault/m1@c-O3"), Verdict::Slower { .. }));
    }

    #[test]
    fn another_outcome_is_odd_and_a_second_run_confirms_or_does_not() {
        let mut rng = Seeded::new(11);
        let mut gathered = two_kinds(&mut rng);
        for (id, factor) in [9.0, 8.0].into_iter().enumerate() {
            gathered.add(run(&mut rng, "a9", id, "6.1", |cell| {
                if cell == 2 { factor } else { 1.0 }
            }));
        }
        gathered.add(run(&mut rng, "a8", 0, "6.1", |_| 1.0));
        let last = gathered.runs.last_mut().unwrap();
        let outcome = Outcome::because(Status::Untrusted, Cause::Altered);
        last.cells[1] = RunCell {
            question: 1,
            outcome: outcome.clone(),
            logs: vec![],
            throttled: None,
            is_disturbed: false,
        };
        let judged = judge(&gathered, &by(), 0.05);
        assert_eq!(
            judged
                .odd
                .iter()
                .map(|n| n.node.as_str())
                .collect::<Vec<_>>(),
            ["a8", "a9"]
        );
        assert!(
            matches!(&judged.odd[0].findings[0], Finding::Outcome { outcome: seen, nodes: 9, .. } if *seen == outcome)
        );
        assert_eq!(
            (judged.odd[0].confirmed, judged.odd[1].confirmed),
            (None, Some(true))
        );
        assert_eq!(judged.rerun, ["a8"]);
    }

    #[test]
    fn a_quota_that_the_kernel_saw_at_work_is_odd_whatever_it_cost_and_not_where_all_have_one() {
        let mut rng = Seeded::new(13);
        let mut gathered = two_kinds(&mut rng);
        let held = 0.7;
        gathered.runs[3].cells[2].throttled = Some(held);
        let judged = judge(&gathered, &by(), 0.05);
        assert_eq!(
            judged
                .odd
                .iter()
                .map(|n| n.node.as_str())
                .collect::<Vec<_>>(),
            ["a3"]
        );
        assert!(
            matches!(&judged.odd[0].findings[..], [Finding::Throttled { nodes: 7, share, .. }] if *share == held)
        );
        assert_eq!(
            (judged.odd[0].confirmed, judged.rerun),
            (None, vec!["a3".to_owned()])
        );
        // A second run without a quota does not confirm it; one with it does.
        let second = NodeRun {
            run: "second".to_owned(),
            folder: "/second".to_owned(),
            ..gathered.runs[3].clone()
        };
        let mut free = second.clone();
        free.cells[2].throttled = None;
        for (run, confirmed) in [(second, true), (free, false)] {
            let mut gathered = gathered.clone();
            gathered.add(run);
            assert_eq!(
                judge(&gathered, &by(), 0.05).odd[0].confirmed,
                Some(confirmed)
            );
        }
        gathered
            .runs
            .iter_mut()
            .for_each(|run| run.cells[2].throttled = Some(held));
        assert_eq!(judge(&gathered, &by(), 0.05).odd, []);
    }

    #[test]
    fn the_same_run_counts_once_and_names_of_two_machines_are_told_apart() {
        let mut rng = Seeded::new(12);
        let mut gathered = two_kinds(&mut rng);
        let copy = NodeRun {
            folder: "/copy".to_owned(),
            ..gathered.runs[0].clone()
        };
        gathered.add(copy);
        let other = NodeRun {
            run: "other".to_owned(),
            machine: "another".to_owned(),
            ..gathered.runs[0].clone()
        };
        gathered.add(other);
        let judged = judge(&gathered, &by(), 0.05);
        assert_eq!(
            (judged.runs, judged.nodes, judged.unread.len()),
            (15, 15, 1)
        );
        assert!(
            matches!(&judged.unread[0].fault, Fault::Duplicate { known } if known.contains("/shared/a0/0"))
        );
        let named: Vec<&String> = judged.kinds[0]
            .nodes
            .iter()
            .filter(|n| n.starts_with("a0"))
            .collect();
        assert_eq!(named, ["a0#a0", "a0#another"]);
    }
}
