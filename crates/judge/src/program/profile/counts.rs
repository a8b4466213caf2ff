//! Counts of a launch of the command: by kind if each fault was followed, in total otherwise.

use crate::program::costs_in;
use record::command::{
    CommandCost, CommandEnd, CommandLaunch, CommandPlan, EventCounts, FailureKind, Faults,
    LaunchMode, MemoryEvent,
};
use record::summary::NoteKind;
use std::collections::{BTreeMap, BTreeSet};

/// Share of followed faults that may differ from the command's own count before it is said.
const UNLIKE: f64 = 0.1;
/// Faults that holding the command back until it is followed may bring.
const HOLDING: f64 = 100.0;

/// Counts and their credibility.
pub(super) struct Counted<'a> {
    /// Counts as they are shown: means over launches.
    pub shown: EventCounts,
    /// Launches whose faults were followed; none if kinds are not known.
    pub followed: Vec<(&'a CommandCost, &'a Faults)>,
    /// The traced launch, where calls that change mappings were seen beside its faults.
    pub traced: Option<&'a Faults>,
    /// The reason why kinds of page faults are not those of a launch by itself; their number is.
    pub doubt_of_kinds: Option<NoteKind>,
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
        if self.followed.is_empty() {
            return None;
        }
        let faults = self.followed.iter().map(|(cost, _)| cost.minor_faults);
        Some(mean(faults.map(|count| count as f64)))
    }

    /// Counts as they are shown, from the launches of the command by itself.
    fn of_launches(&self, plain: &[&CommandCost]) -> EventCounts {
        let minor_faults = mean_of(plain, |cost| cost.minor_faults);
        let mut events = if self.followed.is_empty() {
            BTreeMap::from([
                (MemoryEvent::Unknown, minor_faults),
                (MemoryEvent::FreeBase, minor_faults),
            ])
        } else {
            self.events()
        };
        events.extend([
            (
                MemoryEvent::ReadCalls,
                mean_of(plain, |cost| cost.read_calls),
            ),
            (
                MemoryEvent::ReadBytes,
                mean_of(plain, |cost| cost.read_bytes),
            ),
            (
                MemoryEvent::WriteCalls,
                mean_of(plain, |cost| cost.write_calls),
            ),
            (
                MemoryEvent::WriteBytes,
                mean_of(plain, |cost| cost.write_bytes),
            ),
            (
                MemoryEvent::WriteNew,
                mean_of(plain, |cost| cost.dirtied_pages),
            ),
        ]);
        EventCounts {
            events,
            minor_faults,
            major_faults: mean_of(plain, |cost| cost.major_faults),
            switches: mean_of(plain, |cost| {
                cost.voluntary_switches
                    .saturating_add(cost.involuntary_switches)
            }),
            processes: self.mean(|faults| faults.processes),
            max_rss_bytes: mean_of(plain, |cost| cost.max_rss_kib) * 1024.0,
        }
    }

    /// Events of followed launches by kind.
    fn events(&self) -> BTreeMap<MemoryEvent, f64> {
        use MemoryEvent::{File, FreeBase, FreeHuge, Huge, InCalls, Raced, ZeroRead};
        let kinds: BTreeSet<MemoryEvent> = self
            .followed
            .iter()
            .flat_map(|(_, faults)| faults.kinds.keys().copied())
            .collect();
        let mut events = BTreeMap::new();
        for kind in kinds {
            let counts = self.followed.iter().map(|(_, faults)| count(faults, kind));
            events.insert(kind, mean(counts.map(|count| count as f64)));
        }
        let in_calls = self
            .followed
            .iter()
            .map(|(cost, faults)| in_calls(cost, faults) as f64);
        events.insert(InCalls, mean(in_calls));
        // Every page that was given to the program is taken from it once.
        let given = events
            .iter()
            .filter(|(kind, _)| !matches!(kind, File | Huge | Raced | ZeroRead))
            .map(|(_, count)| count)
            .sum();
        events.extend([
            (FreeBase, given),
            (FreeHuge, events.get(&Huge).copied().unwrap_or(0.0)),
        ]);
        events
    }

    /// Records that were lost, or a command that had other faults while it was followed.
    fn doubt_of_kinds(&self) -> Option<NoteKind> {
        let records: u64 = self
            .followed
            .iter()
            .map(|(_, f)| {
                f.lost.max(if f.period > 1 {
                    0
                } else {
                    f.counted.saturating_sub(f.samples)
                })
            })
            .sum();
        if records > 0 {
            return Some(NoteKind::KindsLost { records });
        }
        let (followed, plain) = (self.followed_faults()?, self.shown.minor_faults);
        let differs = (followed - plain).abs() > UNLIKE * plain + HOLDING;
        differs.then_some(NoteKind::UnlikeFollowed { followed, plain })
    }
}

fn count(faults: &Faults, kind: MemoryEvent) -> u64 {
    faults.kinds.get(&kind).copied().unwrap_or(0)
}

/// Faults of a launch inside calls: all but those that were recorded by their kind.
fn in_calls(cost: &CommandCost, faults: &Faults) -> u64 {
    let in_user_mode = faults
        .samples
        .saturating_mul(faults.period.max(1))
        .saturating_sub(count(faults, MemoryEvent::InCalls));
    cost.minor_faults.saturating_sub(in_user_mode)
}

/// The mean, 0 of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn mean_of(costs: &[&CommandCost], count: fn(&CommandCost) -> u64) -> f64 {
    mean(costs.iter().map(|cost| count(cost) as f64))
}

/// Launches after warm-ups that have ended by themselves.
pub(super) fn ended(
    launches: &[CommandLaunch],
    mode: LaunchMode,
) -> impl Iterator<Item = &CommandCost> {
    launches
        .iter()
        .filter(move |launch| launch.block >= 0 && launch.mode == mode)
        .filter_map(|launch| launch.cost.as_ref())
        .filter(|cost| cost.end == CommandEnd::Exit)
}

/// `None` if no plain launch ended.
pub(super) fn counted<'a>(
    plan: &CommandPlan,
    launches: &'a [CommandLaunch],
) -> Option<Counted<'a>> {
    let plain: Vec<&CommandCost> = ended(launches, LaunchMode::Plain).collect();
    let usual_code = plain.first()?.code;
    let mut followed: Vec<(&CommandCost, &Faults)> = ended(launches, LaunchMode::Followed)
        .filter_map(|cost| Some((cost, cost.faults.as_ref()?)))
        .collect();
    if followed.is_empty() {
        // A command that takes long has only its traced launch followed.
        let traced = costs_in(launches, LaunchMode::Traced);
        let traced = traced.filter(|cost| cost.end == CommandEnd::Exit && cost.code == usual_code);
        followed.extend(traced.filter_map(|cost| Some((cost, cost.faults.as_ref()?))));
    }
    let traced = costs_in(launches, LaunchMode::Traced)
        .filter(|cost| cost.end == CommandEnd::Exit && cost.code == usual_code)
        .filter_map(|cost| cost.faults.as_ref())
        .find(|faults| !faults.calls.is_empty() && faults.lost == 0);
    let mut counted = Counted {
        shown: EventCounts::default(),
        followed,
        traced,
        doubt_of_kinds: None,
        doubt: None,
    };
    counted.shown = counted.of_launches(&plain);
    counted.doubt_of_kinds = counted.doubt_of_kinds();
    if matches!(counted.doubt_of_kinds, Some(NoteKind::KindsLost { .. })) {
        (counted.followed, counted.traced) = (Vec::new(), None);
        counted.shown = counted.of_launches(&plain);
    }
    let is_page_known = plan
        .pages
        .as_ref()
        .is_some_and(|pages| pages.page_bytes != 0);
    counted.doubt = (!is_page_known).then_some(FailureKind::NoPageSize);
    Some(counted)
}
