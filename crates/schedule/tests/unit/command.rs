use super::*;
use record::command::{Arm, ArmRole, Pages};
use record::outcome::Cause;
use std::collections::BTreeMap;

fn arm(role: ArmRole) -> Arm {
    Arm {
        name: String::new(),
        role,
        shown: "program".to_owned(),
        command: vec!["program".to_owned()],
        setting: None,
        variables: BTreeMap::new(),
        preloaded: None,
        cpus: None,
        skipped: None,
    }
}

fn plan(kind: Kind) -> CommandPlan {
    let roles = if kind == Kind::Try {
        &[ArmRole::Baseline, ArmRole::Setting, ArmRole::Again][..]
    } else {
        &[ArmRole::Baseline]
    };
    let pages = Pages {
        page_bytes: 4096,
        huge_page_bytes: 2 << 20,
        thp: "madvise".to_owned(),
    };
    CommandPlan {
        schema: 2,
        kind,
        run: "r".to_owned(),
        seed: 1,
        arms: roles.iter().map(|role| arm(*role)).collect(),
        directory: "/".into(),
        precision: 0.01,
        margin: 0.01,
        pairs: None,
        warmups: 1,
        time_limit_s: 60.0,
        pages: (kind == Kind::Profile).then_some(pages),
        ..CommandPlan::default()
    }
}

/// Launches of a second each, until the end or until `most` of them.
struct Simulated<'a> {
    plan: &'a CommandPlan,
    budget_s: f64,
    width: &'a dyn Fn(usize) -> Option<f64>,
    settled_at: Option<usize>,
    given_up: &'a dyn Fn(usize) -> bool,
    fails: &'a dyn Fn(LaunchMode) -> bool,
}

impl Simulated<'_> {
    fn launches(&self, mut launches: Vec<CommandLaunch>, most: usize) -> Vec<CommandLaunch> {
        let (mut scheduler, before) = (CommandScheduler::default(), launches.len());
        while launches.len() < most {
            let blocks = |all: &[CommandLaunch]| {
                all.iter().map(|l| l.block + 1).max().unwrap_or(0).max(0) as usize
            };
            let moment = CommandMoment {
                plan: self.plan,
                launches: &launches,
                budget_s: self.budget_s,
                spent_s: (launches.len() - before) as f64,
                given_up: self.given_up,
                half_width: &|| (self.width)(blocks(&launches)),
                is_settled: &|| self.settled_at == Some(blocks(&launches)),
            };
            let Some(CommandPart { block, arm, mode }) = scheduler.next(moment) else {
                break;
            };
            let failed = (self.fails)(mode).then_some(Cause::Budget);
            launches.push(CommandLaunch {
                block,
                arm,
                mode,
                failed,
                ..CommandLaunch::default()
            });
        }
        launches
    }
}

fn simulated(plan: &CommandPlan) -> Simulated<'_> {
    Simulated {
        plan,
        budget_s: 60.0,
        width: &|_| Some(1.0),
        settled_at: None,
        given_up: &|_| false,
        fails: &|_| false,
    }
}

fn blocks(launches: &[CommandLaunch]) -> i64 {
    launches
        .iter()
        .map(|launch| launch.block)
        .max()
        .unwrap_or(-1)
        + 1
}

#[test]
fn every_arm_is_proved_before_the_first_block_and_takes_part_in_each() {
    let plan = plan(Kind::Try);
    let launches = simulated(&plan).launches(Vec::new(), usize::MAX);
    assert!(
        launches[..3]
            .iter()
            .all(|l| l.block == -1 && l.mode == LaunchMode::Traced),
        "{launches:?}"
    );
    for block in 0..blocks(&launches) {
        let mut arms: Vec<usize> = launches
            .iter()
            .filter(|l| l.block == block)
            .map(|l| l.arm)
            .collect();
        arms.sort_unstable();
        assert_eq!(arms, [0, 1, 2], "block {block}");
    }
}

#[test]
fn a_narrow_interval_ends_a_study_that_has_its_six_blocks() {
    let plan = plan(Kind::Try);
    let narrow = |blocks| Some(if blocks < 9 { 0.02 } else { 0.009 });
    assert_eq!(
        blocks(
            &Simulated {
                width: &narrow,
                ..simulated(&plan)
            }
            .launches(Vec::new(), usize::MAX)
        ),
        9
    );
    let short = Simulated {
        budget_s: 1.0,
        ..simulated(&plan)
    };
    assert_eq!(
        blocks(&short.launches(Vec::new(), usize::MAX)),
        6,
        "without a budget there is an interval"
    );
}

#[test]
fn an_interim_analysis_ends_a_study() {
    let plan = plan(Kind::Try);
    let of = |settled_at| {
        blocks(
            &Simulated {
                settled_at,
                ..simulated(&plan)
            }
            .launches(Vec::new(), usize::MAX),
        )
    };
    assert_eq!([Some(6), Some(14)].map(of), [6, 14]);
    assert!(of(None) > 14);
}

#[test]
fn a_budget_is_never_exceeded_by_more_than_one_block() {
    for budget_s in [1.0, 5.0, 17.0, 40.0, 200.0] {
        let plan = CommandPlan {
            budget_s: Some(budget_s),
            ..plan(Kind::Try)
        };
        let launches = Simulated {
            budget_s,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX);
        assert!(
            launches.len() as f64 <= budget_s + 6.0,
            "{} launches in {budget_s} s",
            launches.len()
        );
    }
}

#[test]
fn blocks_that_are_counted_are_made_whatever_the_precision() {
    let plan = CommandPlan {
        pairs: Some(11),
        ..plan(Kind::Try)
    };
    let narrow = |_| Some(0.0);
    let launches = Simulated {
        budget_s: 1.0,
        width: &narrow,
        ..simulated(&plan)
    }
    .launches(Vec::new(), usize::MAX);
    assert_eq!((blocks(&launches), launches.len()), (11, 3 + 33));
}

#[test]
fn a_failed_arm_is_left_out_and_a_failed_baseline_ends_the_study() {
    let plan = CommandPlan {
        pairs: Some(6),
        ..plan(Kind::Try)
    };
    let launches = Simulated {
        given_up: &|arm| arm == 1,
        ..simulated(&plan)
    }
    .launches(Vec::new(), usize::MAX);
    assert!(
        launches.len() == 14 && launches.iter().all(|launch| launch.arm != 1),
        "{launches:?}"
    );
    assert!(
        Simulated {
            given_up: &|arm| arm == 0,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX)
        .is_empty()
    );
}

#[test]
fn an_interrupted_study_goes_on_in_the_middle_of_its_block() {
    let plan = CommandPlan {
        pairs: Some(8),
        ..plan(Kind::Try)
    };
    let whole = simulated(&plan).launches(Vec::new(), usize::MAX);
    for stop in [0, 2, 3, 7, 19] {
        let part = simulated(&plan).launches(Vec::new(), stop);
        assert_eq!(
            simulated(&plan).launches(part, usize::MAX),
            whole,
            "stopped after {stop}"
        );
    }
}

#[test]
fn a_profile_has_every_price_in_each_block_and_follows_faults_in_the_first_ones() {
    let plan = plan(Kind::Profile);
    let fails = |mode| matches!(mode, LaunchMode::PriceHuge | LaunchMode::PriceBase);
    let launches = Simulated {
        fails: &fails,
        ..simulated(&plan)
    }
    .launches(Vec::new(), usize::MAX);
    assert_eq!(
        (launches[0].mode, launches[1].mode),
        (LaunchMode::Plain, LaunchMode::Traced)
    );
    let with = |mode| {
        launches
            .iter()
            .filter(|launch| launch.block >= 0 && launch.mode == mode)
            .count() as i64
    };
    assert_eq!(
        with(LaunchMode::PriceHuge),
        1,
        "a price that cannot be had is not tried again"
    );
    assert_eq!(
        with(LaunchMode::PriceBase),
        blocks(&launches),
        "without this one there is no profile"
    );
    assert_eq!(
        (with(LaunchMode::Followed), with(LaunchMode::Plain)),
        (8.min(blocks(&launches)), blocks(&launches))
    );
}

#[test]
fn a_profile_beyond_its_budget_follows_faults_in_fewer_blocks() {
    let plan = CommandPlan {
        pairs: Some(7),
        ..plan(Kind::Profile)
    };
    let followed = |budget_s| {
        let launches = Simulated {
            budget_s,
            ..simulated(&plan)
        }
        .launches(Vec::new(), usize::MAX);
        launches
            .iter()
            .filter(|launch| launch.block >= 0 && launch.mode == LaunchMode::Followed)
            .count()
    };
    // Two launches before the first block and six in each.
    assert_eq!([30.0, 39.0, 60.0].map(followed), [3, 6, 7]);
}
