//! Counts of a launch of the command: by kind if each fault was followed, in total otherwise.

use crate::program::costs_in;
use record::command::{
    CommandCost, CommandEnd, CommandLaunch, CommandPlan, EventCounts, FailureKind, Faults,
    LaunchMode, MemoryEvent,
};
use std::collections::{BTreeMap, BTreeSet};

/// Share of followed faults that may differ from the command's own count before it is said.
const UNLIKE: f64 = 0.1;
/// Faults that holding the command back until it is followed may bring.
const HOLDING: f64 = 100.0;

/// Counts and their credibility.
pub(super) struct Counted<'a> {
    /// As it is shown: means over launches.
    pub shown: EventCounts,
    /// Launches whose faults were followed; none if kinds are not known.
    pub followed: Vec<(&'a CommandCost, &'a Faults)>,
    /// The traced launch, where calls that change mappings were seen beside its faults.
    pub traced: Option<&'a Faults>,
    /// The reason why it cannot be believed.
    pub doubt: Option<FailureKind>,
}

impl Counted<'_> {
    pub fn count(&self, event: MemoryEvent) -> f64 {
        self.shown.events.get(&event).copied().unwrap_or(0.0)
    }

    /// Mean of a followed count.
    pub fn mean(&self, count: fn(&Faults) -> u64) -> f64 {
        mean(self.followed.iter().map(|(_, faults)| count(faults) as f64))
    }

    /// Faults that a changed setting would move, by the traced launch, which knows the end of each mapping.
    pub fn foreseen(&self, count: fn(&Faults) -> u64) -> f64 {
        self.traced
            .map_or_else(|| self.mean(count), |faults| count(faults) as f64)
    }

    /// Minor faults of a followed launch.
    pub fn followed_faults(&self) -> Option<f64> {
        (!self.followed.is_empty()).then(|| {
            mean(
                self.followed
                    .iter()
                    .map(|(cost, _)| cost.minor_faults as f64),
            )
        })
    }

    fn events(&self) -> BTreeMap<MemoryEvent, f64> {
        use MemoryEvent::{File, FreeBase, FreeHuge, Huge, InCalls, ZeroRead};
        let count =
            |faults: &Faults, kind: &MemoryEvent| faults.kinds.get(kind).copied().unwrap_or(0);
        let kinds: BTreeSet<MemoryEvent> = self
            .followed
            .iter()
            .flat_map(|(_, faults)| faults.kinds.keys().copied())
            .collect();
        let of_kind = |kind| {
            (
                kind,
                mean(
                    self.followed
                        .iter()
                        .map(|(_, faults)| count(faults, &kind) as f64),
                ),
            )
        };
        let mut events: BTreeMap<MemoryEvent, f64> = kinds.into_iter().map(of_kind).collect();
        let in_calls = |(cost, faults): &(&CommandCost, &Faults)| {
            cost.minor_faults
                .saturating_sub(faults.samples.saturating_sub(count(faults, &InCalls)))
        };
        events.insert(
            InCalls,
            mean(self.followed.iter().map(|pair| in_calls(pair) as f64)),
        );
        // Every page that was given to the program is taken from it once.
        let given = events
            .iter()
            .filter(|(kind, _)| !matches!(kind, File | Huge | ZeroRead))
            .map(|(_, count)| count)
            .sum();
        events.extend([
            (FreeBase, given),
            (FreeHuge, events.get(&Huge).copied().unwrap_or(0.0)),
        ]);
        events
    }

    /// Records that were lost, or a command that had other faults while it was followed.
    fn doubt(&self) -> Option<FailureKind> {
        let records: u64 = self
            .followed
            .iter()
            .map(|(_, f)| f.lost.max(f.counted.saturating_sub(f.samples)))
            .sum();
        if records > 0 {
            return Some(FailureKind::RecordsLost { records });
        }
        let (followed, plain) = (self.followed_faults()?, self.shown.minor_faults);
        let differs = (followed - plain).abs() > UNLIKE * plain + HOLDING;
        differs.then_some(FailureKind::NotTheSame { followed, plain })
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// `None` if no plain launch ended.
pub(super) fn counted<'a>(
    plan: &CommandPlan,
    launches: &'a [CommandLaunch],
) -> Option<Counted<'a>> {
    let ended = |launch: &&CommandLaunch| {
        launch
            .cost
            .as_ref()
            .is_some_and(|cost| cost.end == CommandEnd::Exit)
    };
    let judged = launches
        .iter()
        .filter(|launch| launch.block >= 0)
        .filter(ended);
    let costs = |mode| {
        judged
            .clone()
            .filter(move |launch| launch.mode == mode)
            .filter_map(|l| l.cost.as_ref())
    };
    let plain: Vec<&CommandCost> = costs(LaunchMode::Plain).collect();
    if plain.is_empty() {
        return None;
    }
    let of_plain =
        |count: fn(&CommandCost) -> u64| mean(plain.iter().map(|cost| count(cost) as f64));
    let followed = costs(LaunchMode::Followed)
        .filter_map(|cost| Some((cost, cost.faults.as_ref()?)))
        .collect();
    let traced = costs_in(launches, LaunchMode::Traced)
        .filter(|cost| cost.end == CommandEnd::Exit && cost.code == plain[0].code);
    let traced = traced
        .filter_map(|cost| cost.faults.as_ref())
        .find(|faults| !faults.calls.is_empty() && faults.lost == 0);
    let mut counted = Counted {
        shown: EventCounts::default(),
        followed,
        traced,
        doubt: None,
    };
    let minor_faults = of_plain(|cost| cost.minor_faults);
    counted.shown = EventCounts {
        events: if counted.followed.is_empty() {
            BTreeMap::from([
                (MemoryEvent::Unknown, minor_faults),
                (MemoryEvent::FreeBase, minor_faults),
            ])
        } else {
            counted.events()
        },
        minor_faults,
        major_faults: of_plain(|cost| cost.major_faults),
        switches: of_plain(|cost| {
            cost.voluntary_switches
                .saturating_add(cost.involuntary_switches)
        }),
        processes: counted.mean(|faults| faults.processes),
        max_rss_bytes: of_plain(|cost| cost.max_rss_kib) * 1024.0,
    };
    let shown = &mut counted.shown;
    shown.events.extend([
        (MemoryEvent::ReadCalls, of_plain(|cost| cost.read_calls)),
        (MemoryEvent::ReadBytes, of_plain(|cost| cost.read_bytes)),
        (MemoryEvent::WriteCalls, of_plain(|cost| cost.write_calls)),
        (MemoryEvent::WriteBytes, of_plain(|cost| cost.write_bytes)),
        (MemoryEvent::WriteNew, of_plain(|cost| cost.dirtied_pages)),
    ]);
    let unnamed = plan
        .pages
        .as_ref()
        .is_none_or(|pages| pages.page_bytes == 0);
    counted.doubt = counted
        .doubt()
        .or_else(|| unnamed.then_some(FailureKind::NoPageSize));
    Some(counted)
}
