//! Sentences of facts: templates of `phrases.toml`, filled with the figures of an enum's variant.

use crate::sentences::wording::{count, half_width, percent};
use minijinja::{Environment, Error, State, UndefinedBehavior, Value, context, value::Serde};
use record::cell::parameter_words;
use record::launches::{End, signal_name};
use record::outcome::Outcome;
use record::sizes::{about_size, format_ns, three_digits};
use record::summary::{NoteKind, WarningKind};
use serde::Serialize;
use stats::estimate::LEAST_POINTS;
use std::{collections::BTreeMap, sync::LazyLock};

static PHRASES: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let parts: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(include_str!("phrases.toml")).expect("the file is well formed");
    let mut phrases = Environment::new();
    phrases.set_undefined_behavior(UndefinedBehavior::Strict);
    phrases.add_filter("fixed", |value: f64, decimals: usize| {
        format!("{value:.decimals$}")
    });
    phrases.add_filter("percent", |share: f64, decimals: Option<usize>| {
        format!("{:.*} %", decimals.unwrap_or_default(), 100.0 * share)
    });
    phrases.add_filter("change", |ratio: f64| {
        format!("{:+.1}", 100.0 * (ratio - 1.0)).replace('-', "−")
    });
    phrases.add_filter("plain", |number: f64| number.to_string());
    phrases.add_filter("share", percent);
    phrases.add_filter("half_width", half_width);
    phrases.add_filter("ns", format_ns);
    phrases.add_filter("size", about_size);
    phrases.add_filter("digits", three_digits);
    phrases.add_filter(
        "reason",
        |state: &State, cause: Value| -> Result<String, Error> {
            let Ok(word) = cause.get_attr("word") else {
                return Ok(String::new());
            };
            state
                .env()
                .get_template(&format!("reason/{word}"))?
                .render(cause)
        },
    );
    phrases.add_filter("parameters", |parameters: Value| -> Result<String, Error> {
        let mut known = BTreeMap::new();
        for key in parameters.try_iter()? {
            known.insert(key.to_string(), parameters.get_item(&key)?.to_string());
        }
        Ok(parameter_words(&known, None))
    });
    phrases.add_filter("count", |number: usize, noun: String| count(number, &noun));
    phrases.add_filter("signal", |number: i32| {
        signal_name(number).map_or_else(|| number.to_string(), str::to_owned)
    });
    phrases.add_global("least_points", LEAST_POINTS);
    for (part, sentences) in parts {
        for (name, text) in sentences {
            phrases
                .add_template_owned(format!("{part}/{name}"), text)
                .expect("a template is well formed");
        }
    }
    phrases
});

fn render(name: &str, figures: Value) -> String {
    PHRASES
        .get_template(name)
        .and_then(|phrase| phrase.render(figures))
        .expect("a phrase fits its variant")
}

/// The sentence of a part of the file for a variant with this tag.
pub(crate) fn sentence(part: &str, variant: &impl Serialize) -> String {
    let figures = Value::from(Serde(variant));
    let tag = ["word", "code"].iter().find_map(|field| {
        figures
            .get_attr(field)
            .ok()
            .filter(|tag| !tag.is_undefined())
    });
    render(&format!("{part}/{}", tag.unwrap_or_default()), figures)
}

/// The sentence of a part of the file for a variant without figures of its own.
pub(crate) fn phrase(part: &str, variant: &impl Serialize, figures: Value) -> String {
    render(&format!("{part}/{}", Value::from(Serde(variant))), figures)
}

/// The reason of an outcome; empty for `ok`.
pub fn reason(outcome: &Outcome) -> String {
    outcome
        .cause
        .as_ref()
        .map_or_else(String::new, |cause| sentence("reason", cause))
}

/// The sentence on the end of a process.
pub fn end(end: &End, oom_killed: bool) -> String {
    render(
        "shared/end",
        context! { end => Value::from(Serde(end)), oom_killed },
    )
}

pub(crate) fn note(kind: &NoteKind) -> String {
    sentence("note", kind)
}

pub(crate) fn warning(kind: &WarningKind) -> String {
    let (fact, hint) = (sentence("fact", kind), sentence("remedy", kind));
    if hint.is_empty() {
        fact
    } else {
        format!("{fact}; {hint}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;
    use record::claim::{Counter, Difference, DifferencePart, NoVerdict, Word};
    use record::command::{FailureKind, SettingEffect, SuggestionKind};
    use record::kind::Kind;
    use record::machine::preflight::Busy;
    use record::machine_state::{LostProof, ProofMoment, StateProof};
    use record::outcome::{BrokenLaw, Cause, LaunchFault, Outcome, Status};
    use record::parameters::Parameters;
    use record::summary::{EndedExperiment, LaunchCount, LeastPrecise};
    use serde::de::DeserializeOwned;
    use serde_json::json;
    use stats::steady::Label;
    use std::collections::BTreeSet;
    use strum::VariantArray;

    fn busy(name: &str, cpus: f64) -> Busy {
        Busy {
            name: name.to_owned(),
            pid: 7,
            cpus,
        }
    }

    fn state_lost(
        at: ProofMoment,
        at_least: Option<u64>,
        at_most: Option<u64>,
        value: Option<u64>,
    ) -> WarningKind {
        let proof = StateProof {
            counter: "pswpout".to_owned(),
            at,
            at_least,
            at_most,
        };
        WarningKind::StateLost {
            count: LaunchCount {
                launches: 2,
                all: 9,
            },
            proof: LostProof { proof, value },
        }
    }

    fn warnings() -> Vec<WarningKind> {
        use WarningKind::*;
        let count = LaunchCount {
            launches: 3,
            all: 12,
        };
        let text = || "text".to_owned();
        vec![
            Damaged { seen: text() },
            LastLaunchLost { launch: 4 },
            AnotherRun,
            AaDiffers {
                low: 1.0514,
                high: 1.2,
            },
            BestPossibleBeaten { by: text() },
            BelowFloor { phase: text() },
            Interrupted { share: 0.31 },
            Steal { share: 0.068 },
            Throttled { share: 1.2 },
            Reclaim(count),
            ForeignIo(count),
            ThpFallback(count),
            MemoryPressure(count),
            Unsteady {
                label: Label::Drifting,
                shift: Some(1.256),
            },
            Unsteady {
                label: Label::TwoLevel,
                shift: None,
            },
            state_lost(ProofMoment::Rise, Some(1), None, Some(0)),
            state_lost(ProofMoment::After, Some(1), Some(5), Some(8)),
            state_lost(ProofMoment::Both, None, Some(5), None),
            Level {
                broken: 1,
                samples: 3,
                first: text(),
            },
            FirstPass {
                first_ns: 2e6,
                later_ns: 5e5,
            },
            CpuTaken {
                share: 0.051,
                longest_ns: 4_000_000,
            },
            SlowClock { read_ns: 900.0 },
            BusyProcesses {
                cpus: 1.25,
                busiest: vec![busy("cc1", 0.93), busy("ld", 0.3)],
            },
            MemoryThreads {
                busiest: vec![busy("kswapd0", 0.043)],
            },
            CounterAbsent { reason: text() },
        ]
    }

    fn ended(launches: usize, width: Option<(f64, f64)>) -> EndedExperiment {
        let widest = |(half_width, target)| LeastPrecise {
            method: "a".to_owned(),
            base: "b".to_owned(),
            condition: Parameters::default(),
            half_width,
            target,
        };
        EndedExperiment {
            launches,
            fewest: Parameters::default(),
            widest: width.map(widest),
        }
    }

    /// The same of several conditions, and of a function that is compared with itself alone.
    fn ended_of_several(launches: usize) -> EndedExperiment {
        let mut ended = ended(launches, Some((0.043, 0.01)));
        ended.fewest = [("cache", "cold"), ("bytes", "65536")].into();
        ended.widest = ended.widest.map(|widest| LeastPrecise {
            base: "a".to_owned(),
            condition: [("cache", "hot")].into(),
            ..widest
        });
        ended
    }

    fn notes() -> Vec<NoteKind> {
        use NoteKind::*;
        let text = || "text".to_owned();
        let texts = || vec!["one".to_owned(), "two".to_owned()];
        let questions = |likely, near_edge| QuestionsEnded {
            likely,
            near_edge,
            launches: 9,
        };
        vec![
            Interrupted {
                kind: Kind::Run,
                run: text(),
            },
            Interrupted {
                kind: Kind::Profile,
                run: text(),
            },
            ShortBudget { needed_s: 240.0 },
            EnvironmentCleared { names: texts() },
            PrecisionReached(ended(40, Some((0.0093, 0.01)))),
            PrecisionReached(ended(0, None)),
            WordsSettled(ended(5, Some((0.043, 0.01)))),
            BudgetEnded(ended(40, Some((0.043, 0.01)))),
            BudgetEnded(ended(2, Some((0.043, 0.01)))),
            LaunchesEnded(ended(12, None)),
            BudgetEnded(ended_of_several(0)),
            BudgetEnded(ended_of_several(7)),
            questions(0, 0),
            questions(1, 0),
            questions(0, 2),
            questions(3, 1),
            Damaged { seen: text() },
            OutputDiscarded,
            OutputVaries,
            OutputsDiffer { arms: texts() },
            NotEvicted { bytes: 4096 },
            ThpChanged { rules: texts() },
            SettledEarly { precision: 0.01 },
            ManyProcesses { processes: 200 },
            TooFew { least: 6 },
            LittleKernel { share: 0.013 },
            FaultsUnseen { reason: text() },
            TotalsOnly,
            NoStacks { reason: text() },
            FaultsSampled { period: 11 },
            Windows { window_s: 5.0 },
            ProcessEnded {
                windows: 1,
                followed_s: 0.5,
            },
            Setuid { processes: 1 },
            NotWatched,
            KernelUnseen { reason: text() },
            UnlikeFollowed {
                followed: 2.0,
                plain: 3e4,
            },
            KindsLost { records: 8 },
            SparseBlocks { pages: 1e6 },
            SparseHuge { pages: 8.3 },
            MajorFaults { faults: 12.4 },
            MuchOutput {
                bytes: 1_610_612_736,
            },
            NoPrice {
                cause: Cause::NoZram,
            },
        ]
    }

    fn failures() -> Vec<FailureKind> {
        use FailureKind::*;
        let text = || "text".to_owned();
        let exit = |may_ignore, usual, followed| Exit {
            code: 3,
            signal: None,
            may_ignore,
            usual,
            followed,
        };
        vec![
            Skipped {
                cause: Cause::NoZram,
            },
            NoProgram { program: text() },
            NotStarted { reason: text() },
            Signal {
                number: 11,
                signal: Some("SIGSEGV".to_owned()),
            },
            TimeLimit { limit_s: 60.0 },
            LeftRunning { processes: 1 },
            LeftRunning { processes: 3 },
            Exit {
                code: 139,
                signal: Some("SIGSEGV".to_owned()),
                may_ignore: false,
                usual: None,
                followed: false,
            },
            exit(true, None, false),
            exit(false, Some(0), false),
            exit(false, Some(0), true),
            OutputChanged {
                bytes: 3,
                before: 3,
            },
            OutputChanged {
                bytes: 3,
                before: 4,
            },
            EndsDiffer { window_s: 5.0 },
            NoPageSize,
        ]
    }

    fn effects() -> Vec<SettingEffect> {
        let text = || "text".to_owned();
        vec![
            SettingEffect::Preloaded {
                library: text(),
                mapped: 1,
                all: 2,
            },
            SettingEffect::Huge {
                bytes: 64 << 20,
                usual_bytes: 0,
            },
            SettingEffect::Faults {
                ratio: 0.5,
                low: 0.4,
                high: 1.02,
                moved: 4,
                launches: 6,
            },
            SettingEffect::TooFewRuns,
            SettingEffect::ThpDisabled {
                processes: 1,
                all: 1,
            },
            SettingEffect::Cpus {
                seen: text(),
                wanted: text(),
            },
            SettingEffect::Environment {
                processes: 1,
                all: 2,
            },
            SettingEffect::NoModule {
                modules: vec![text()],
            },
            SettingEffect::Merged { bytes: 1 << 20 },
            SettingEffect::Advised {
                bytes: 1 << 20,
                error: Some(text()),
            },
        ]
    }

    /// The sentences of a part of the file, which has no others.
    fn sentences(part: &str, field: &str, variants: &[impl Serialize]) -> String {
        let tags: BTreeSet<String> = variants
            .iter()
            .map(|variant| {
                serde_json::to_value(variant).unwrap()[field]
                    .as_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        assert_eq!(names(part), tags);
        variants
            .iter()
            .map(|variant| sentence(part, variant))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The names of a part of the file.
    fn names(part: &str) -> BTreeSet<String> {
        let templates = PHRASES.templates();
        templates
            .filter_map(|(name, _)| Some(name.strip_prefix(part)?.strip_prefix('/')?.to_owned()))
            .collect()
    }

    #[test]
    fn every_fact_has_a_sentence_and_every_sentence_a_fact() {
        let warnings = warnings();
        insta::assert_snapshot!("warnings", sentences("fact", "code", &warnings));
        let mut disturbances = warnings.clone();
        disturbances.retain(WarningKind::is_disturbance);
        for warning in &warnings {
            let remedy = sentence("remedy", warning);
            assert_eq!(warning.is_mendable(), !remedy.is_empty(), "{warning:?}");
        }
        insta::assert_snapshot!("noise", sentences("noise", "code", &disturbances));
        insta::assert_snapshot!("remedies", sentences("remedy", "code", &warnings));
        insta::assert_snapshot!("notes", sentences("note", "code", &notes()));
        insta::assert_snapshot!("failures", sentences("failure", "word", &failures()));
        insta::assert_snapshot!("effects", sentences("effect", "word", &effects()));
    }

    /// The sentences of a part of the file for variants without figures of their own.
    fn phrases(part: &str, variants: &[impl Serialize]) -> String {
        let figures = context! {
            names => "time of a", gate => "3 %", limits => "80 %", call => "read", cost => "5 ms"
        };
        let tags = variants
            .iter()
            .map(|variant| Value::from(Serde(variant)).to_string());
        assert_eq!(names(part), tags.collect());
        variants
            .iter()
            .map(|variant| phrase(part, variant, figures.clone()))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn variants_without_figures_have_their_words() {
        use record::across::Gated::*;
        use record::command::{Agreement, ArmStatus, Measure};
        let gated = [Passes, Regression, Undecided, Damaged, NotComparable];
        insta::assert_snapshot!("gate", phrases("gate", &gated));
        insta::assert_snapshot!("compare", phrases("compare", &gated));
        let noisy = context! { gate => "3 %", noisy => "the launches of 2 cells" };
        assert_eq!(
            ["gate", "compare"].map(|part| phrase(part, &Undecided, noisy.clone())),
            [
                "Gate undecided: other work disturbed the launches of 2 cells; a quieter machine may decide.",
                "gate 3 %: undecided: other work disturbed the launches of 2 cells; quieter runs may decide",
            ]
        );
        let agreements = [
            Agreement::Consistent,
            Agreement::FallsShort,
            Agreement::NotSettled,
            Agreement::Exceeds,
        ];
        insta::assert_snapshot!("agreement", phrases("agreement", &agreements));
        assert_eq!(
            phrases(
                "status",
                &[ArmStatus::Skipped, ArmStatus::Failed, ArmStatus::NoEffect]
            ),
            "skipped\nfailed\nno effect"
        );
        assert!(phrases("advice", SuggestionKind::VARIANTS).contains("fork"));
        let measures = [Measure::ALL, Measure::WATCHED].concat();
        assert!(phrases("measure", &measures).starts_with("total CPU\nuser\n"));
    }

    #[test]
    fn what_cells_lack_is_said_with_its_figures() {
        insta::assert_snapshot!("cause", sentences("cause", "word", &causes()));
        insta::assert_snapshot!("reason", sentences("reason", "word", &causes()));
        let faults = faults().map(|fault| Cause::Broken {
            launch: 7,
            fault,
            law: None,
        });
        insta::assert_snapshot!(
            "broken",
            faults.map(|cause| sentence("reason", &cause)).join("\n")
        );
    }

    fn faults() -> [LaunchFault; 8] {
        use LaunchFault::*;
        let text = || "text".to_owned();
        [
            Transcript { error: text() },
            Rounds {
                seen: 3,
                planned: 4,
            },
            UnknownPhase { phase: text() },
            MissingPhase { phase: text() },
            DoublePhase { phase: text() },
            NoDigest,
            WrongDigest {
                digest: text(),
                right: text(),
            },
            UnequalDigests {
                digests: vec![text(), text()],
            },
        ]
    }

    fn causes() -> Vec<Cause> {
        use Cause::*;
        let text = || "text".to_owned();
        let crash = |signal: &str, end| Crash {
            signal: signal.to_owned(),
            phase: text(),
            end,
        };
        let ended = |end, side: Option<&str>, message: &str| Ended {
            end,
            oom_killed: false,
            worker: text(),
            side: side.map(str::to_owned),
            message: message.to_owned(),
        };
        let law = BrokenLaw {
            first: text(),
            broken: 1,
            samples: 9,
        };
        let disturbed = record::outcome::Disturbed {
            launches: 3,
            all: 5,
            by: vec![text(), text()],
        };
        let WarningKind::StateLost { proof, .. } =
            state_lost(ProofMoment::Rise, Some(1), None, Some(0))
        else {
            panic!()
        };
        vec![
            Budget,
            NotInstalled {
                package: text(),
                library: None,
            },
            NoHugePages { path: text() },
            UnfitPreload { path: text() },
            OwnVariable {
                name: text(),
                value: text(),
            },
            NotInstalled {
                package: text(),
                library: Some(text()),
            },
            NoWorker {
                error: text(),
                package: None,
            },
            OldJdk {
                needed: 22,
                have: 17,
            },
            OtherValues {
                key: text(),
                value: text(),
                known: vec![text(), text()],
            },
            MadeValue {
                key: text(),
                value: text(),
            },
            DroppedCache {
                key: text(),
                value: text(),
            },
            NeedsCgroup { key: text() },
            ColdTmpfs,
            BoundedTmpfs { key: text() },
            BoundedWarm {
                key: text(),
                value: text(),
            },
            Unbounded,
            Lacks { text: text() },
            NativeOnly { state: text() },
            NoZram,
            NoSetting { name: text() },
            SettingRefused {
                name: text(),
                error: text(),
            },
            NoCgroup {
                path: None,
                error: None,
            },
            NoCgroup {
                path: Some(text()),
                error: None,
            },
            NoCgroup {
                path: Some(text()),
                error: Some(text()),
            },
            NoMemoryHigh,
            NoCapture {
                end: End::Stopped,
                text: String::new(),
            },
            NoCapture {
                end: End::Exit(4),
                text: text(),
            },
            NoCapture {
                end: End::Exit(1),
                text: text(),
            },
            Setting {
                name: text(),
                least: 5,
                text: None,
            },
            Setting {
                name: text(),
                least: 5,
                text: Some(text()),
            },
            Call {
                call: text(),
                phase: "-".to_owned(),
                error: text(),
            },
            Call {
                call: text(),
                phase: text(),
                error: text(),
            },
            crash("SIGSEGV", None),
            crash("SIGBUS", None),
            crash("SIGTERM", Some(End::TimeLimit(60))),
            ended(End::Exit(3), None, ""),
            ended(End::Signal(9), None, ""),
            ended(End::Signal(64), None, "text"),
            ended(End::TimeLimit(60), Some("a"), "text"),
            ended(End::Deaf(60), Some("b"), ""),
            ended(End::OtherSide, None, ""),
            ended(End::Stopped, None, ""),
            Ended {
                end: End::Signal(9),
                oom_killed: true,
                worker: text(),
                side: None,
                message: String::new(),
            },
            Memory {
                needed_bytes: 4 << 30,
                available_bytes: 1 << 20,
                limited_by: text(),
            },
            Bound {
                key: text(),
                bound_bytes: 1 << 20,
                needed_bytes: 2 << 20,
            },
            SwitchedOut { percent: 60 },
            OthersOnDisk(disturbed.clone()),
            Disturbed(disturbed),
            Broken {
                launch: 2,
                fault: LaunchFault::NoDigest,
                law: Some(law.clone()),
            },
            Law(law),
            Duplicate {
                cause: Box::new(SwitchedOut { percent: 60 }),
            },
            Disagrees {
                digest: text(),
                right: text(),
                cell: text(),
            },
            StateLost { launches: 4, proof },
            Altered,
        ]
    }

    /// The names of an enum's variants, as serde lists them where none has the name; an older name has `_` for `-`.
    fn variants<T: DeserializeOwned>(unknown: serde_json::Value) -> BTreeSet<String> {
        let error = serde_json::from_value::<T>(unknown)
            .err()
            .expect("no variant has this name")
            .to_string();
        let (_, expected) = error
            .split_once("expected")
            .expect("the error lists the variants");
        expected
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|name| name.replace('_', "-"))
            .collect()
    }

    #[test]
    fn every_part_has_a_sentence_for_each_variant_of_its_enum() {
        use record::{across, command, outliers};
        let [word, name, fault] = [json!({ "word": "?" }), json!("?"), json!({ "fault": "?" })];
        let parts = [
            ("failure", variants::<FailureKind>(word.clone())),
            ("effect", variants::<SettingEffect>(word.clone())),
            ("reason", variants::<Cause>(word.clone())),
            ("cause", variants::<Cause>(word.clone())),
            ("broken", variants::<LaunchFault>(fault)),
            ("missing", variants::<across::MissingReason>(word.clone())),
            ("fault", variants::<outliers::Fault>(word.clone())),
            ("finding", variants::<outliers::Finding>(word)),
            ("verdict", variants::<Word>(name.clone())),
            ("counter", variants::<Counter>(name.clone())),
            ("gate", variants::<across::Gated>(name.clone())),
            ("compare", variants::<across::Gated>(name.clone())),
            ("measure", variants::<command::Measure>(name.clone())),
            ("agreement", variants::<command::Agreement>(name.clone())),
            ("advice", variants::<command::SuggestionKind>(name.clone())),
            ("event", variants::<command::MemoryEvent>(name)),
        ];
        parts
            .iter()
            .for_each(|(part, variants)| assert_eq!(&names(part), variants, "{part}"));
        // Enums that take any tag, or are written only; the tests above have their variants.
        let others = [
            "fact",
            "remedy",
            "note",
            "why",
            "difference",
            "status",
            "shared",
            "noise",
        ];
        let listed: BTreeSet<&str> = parts.iter().map(|(part, _)| *part).chain(others).collect();
        let all: BTreeSet<&str> = PHRASES
            .templates()
            .filter_map(|(name, _)| name.split('/').next())
            .collect();
        assert_eq!(all, listed);
    }

    #[test]
    fn what_is_missing_and_odd_is_said_with_its_outcome() {
        use record::{across::MissingReason, outliers::Finding};
        let outcomes = [
            Outcome::because(
                Status::Skipped,
                Cause::Lacks {
                    text: "text".to_owned(),
                },
            ),
            Outcome::because(Status::Untrusted, Cause::Altered),
        ];
        let missing = outcomes
            .clone()
            .map(MissingReason::Outcome)
            .map(|reason| sentence("missing", &reason));
        assert_eq!(
            missing,
            [
                "skipped: text",
                "untrusted: the record of its launches is not as it was written"
            ]
        );
        let odd = |outcome| {
            let (cell, parameters) = (String::new(), Default::default());
            sentence(
                "finding",
                &Finding::Outcome {
                    cell,
                    parameters,
                    outcome,
                    others: Status::Ok,
                    nodes: 9,
                },
            )
        };
        let odd = outcomes.map(odd);
        assert_eq!(odd[0], "skipped here (text), ok on 9 others");
        assert_eq!(
            odd[1],
            "untrusted here (the record of its launches is not as it was written), ok on 9 others"
        );
    }

    #[test]
    fn claims_have_their_reasons_and_causes() {
        use Difference::*;
        let text = || "text".to_owned();
        let why = [
            NoVerdict::Missing { needs: text() },
            NoVerdict::LeftOut { reason: text() },
            NoVerdict::NoWorker { worker: text() },
            NoVerdict::SameSides,
            NoVerdict::NoRun,
            NoVerdict::Budget { needed_s: None },
            NoVerdict::Budget {
                needed_s: Some(44.0),
            },
            NoVerdict::Cell {
                cell: text(),
                outcome: Outcome::because(Status::Refused, Cause::Altered),
            },
            NoVerdict::Launches {
                launches: 3,
                least: 4,
            },
            NoVerdict::NoFigure,
            NoVerdict::Interval {
                verdicts: vec![Word::Holds, Word::Weaker],
            },
            NoVerdict::Interval {
                verdicts: vec![Word::Holds, Word::Weaker, Word::NoDifferenceHere],
            },
            NoVerdict::AmongAll {
                alone: Word::Holds,
                questions: 100,
            },
            NoVerdict::Disturbed { alone: Word::Holds },
            NoVerdict::NoSize,
            NoVerdict::CrossesOften,
            NoVerdict::BeyondRange,
        ];
        insta::assert_snapshot!("why", sentences("why", "word", &why));
        let part = |counter| {
            let [dear, cheap] = ["a", "b"].map(str::to_owned);
            DifferencePart {
                share: 0.62,
                dear,
                cheap,
                counter,
                dear_count: 5120.0,
                cheap_count: 10.0,
            }
        };
        let counters = names("counter")
            .into_iter()
            .map(|name| serde_json::from_value(json!(name)).unwrap());
        let mut causes = vec![
            NotFound,
            Counted { fact: text() },
            Faults {
                first: 5120.0,
                second: 10.0,
            },
            BothWait,
            Same,
        ];
        causes.extend([
            Waiting(part(Counter::Nothing)),
            Program(part(Counter::Nothing)),
            BothSleep {
                first: 9.0,
                second: 8.0,
            },
        ]);
        causes.extend(counters.map(|counter| Kernel(part(counter))));
        insta::assert_snapshot!("difference", sentences("difference", "word", &causes));
    }
}
