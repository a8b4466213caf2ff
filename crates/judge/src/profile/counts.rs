//! Counts of a run of the command: by kind where each fault was followed, in total otherwise.

use std::collections::BTreeMap;

use record::profile::{Counts, Kind, ProfilePlan, ProfileRun, What};
use record::trial::{Cost, Ending, Faults};

/// Share of followed faults that may differ from the command's own count before it is said.
const UNLIKE: f64 = 0.1;
/// Faults that holding the command back until it is followed may bring.
const HOLDING: f64 = 100.0;

/// Counts and their credibility.
pub(super) struct Counted {
    /// As it is shown: means over runs.
    pub shown: Counts,
    /// Means of what was followed; all zero where nothing was.
    pub faults: BTreeMap<&'static str, f64>,
    /// Minor faults of a followed run.
    pub followed_faults: Option<f64>,
    /// True if kinds are known.
    pub by_kind: bool,
    /// True if faults in kernel mode have addresses.
    pub in_kernel_seen: bool,
    /// True if a Java virtual machine took part.
    pub java: bool,
    /// Why it cannot be believed.
    pub doubt: Option<String>,
}

impl Counted {
    pub fn of(&self, kind: Kind) -> f64 {
        self.shown.events.get(&kind).copied().unwrap_or(0.0)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn costs(runs: &[ProfileRun], what: What) -> Vec<&Cost> {
    let of = runs.iter().filter(move |r| r.what == what && (r.block >= 0 || what == What::Looked));
    of.filter_map(|r| r.cost.as_ref()).filter(|c| c.end == Ending::Exit).collect()
}

/// `None` where no clean run ended.
pub(super) fn counted(plan: &ProfilePlan, runs: &[ProfileRun]) -> Option<Counted> {
    let clean = costs(runs, What::Clean);
    if clean.is_empty() {
        return None;
    }
    let of_clean = |of: fn(&Cost) -> u64| mean(clean.iter().map(|c| of(c) as f64));
    let with_faults = costs(runs, What::Followed);
    let followed: Vec<(&Cost, &Faults)> = with_faults.iter().filter_map(|c| Some((*c, c.faults.as_ref()?))).collect();
    let by_kind = !followed.is_empty();
    let minor_faults = of_clean(|c| c.minor_faults);
    let events = if by_kind {
        events_by_kind(&followed)
    } else {
        BTreeMap::from([(Kind::Unknown, minor_faults), (Kind::FreeBase, minor_faults)])
    };
    let mut shown = Counts {
        events,
        minor_faults,
        major_faults: of_clean(|c| c.major_faults),
        switches: of_clean(|c| c.voluntary_switches.saturating_add(c.involuntary_switches)),
        processes: mean(followed.iter().map(|(_, f)| f.processes as f64)),
        max_rss_bytes: of_clean(|c| c.max_rss_kib) * 1024.0,
        ..Counts::default()
    };
    type Total = (Kind, fn(&Cost) -> u64);
    let calls: [Total; 4] = [
        (Kind::ReadCalls, |c| c.read_calls),
        (Kind::ReadBytes, |c| c.read_bytes),
        (Kind::WriteCalls, |c| c.write_calls),
        (Kind::WriteBytes, |c| c.write_bytes),
    ];
    shown.events.extend(calls.map(|(kind, of)| (kind, of_clean(of))));
    if let Some(seen) = costs(runs, What::Looked).first().and_then(|c| c.proof.as_ref()) {
        shown.end_rss_bytes = seen.end_rss_bytes as f64;
        shown.end_huge_bytes = seen.end_huge_bytes as f64;
        shown.end_base_bytes = seen.end_anonymous_bytes.saturating_sub(seen.end_huge_bytes) as f64;
    }
    let followed_faults = by_kind.then(|| mean(followed.iter().map(|(c, _)| c.minor_faults as f64)));
    Some(Counted {
        faults: if by_kind { simulated(&followed) } else { BTreeMap::new() },
        by_kind,
        in_kernel_seen: followed.first().is_some_and(|(_, f)| f.in_kernel_seen),
        java: followed.iter().any(|(_, f)| f.java),
        doubt: doubt(&followed, minor_faults, followed_faults).or_else(|| unnamed(plan)),
        followed_faults,
        shown,
    })
}

fn unnamed(plan: &ProfilePlan) -> Option<String> {
    (plan.page_bytes == 0).then(|| "the size of a page is not known".to_owned())
}

fn events_by_kind(followed: &[(&Cost, &Faults)]) -> BTreeMap<Kind, f64> {
    let of = |count: fn(&Faults) -> u64| mean(followed.iter().map(|(_, f)| count(f) as f64));
    let in_calls = mean(followed.iter().map(|(c, f)| c.minor_faults.saturating_sub(f.in_user()) as f64));
    let mut events = BTreeMap::from([
        (Kind::Heap, of(|f| f.heap)),
        (Kind::Anonymous, of(|f| f.anonymous)),
        (Kind::Stack, of(|f| f.stack)),
        (Kind::Shared, of(|f| f.shared)),
        (Kind::Again, of(|f| f.again)),
        (Kind::Elsewhere, of(|f| f.elsewhere)),
        (Kind::ZeroRead, of(|f| f.zero_read)),
        (Kind::ZeroWrite, of(|f| f.zero_write)),
        (Kind::Cow, of(|f| f.cow)),
        (Kind::File, of(|f| f.file)),
        (Kind::FileWrite, of(|f| f.file_write)),
        (Kind::Huge, of(|f| f.huge)),
        (Kind::InCalls, in_calls),
    ]);
    // Every page that was given to the program is taken from it once.
    let given = of(Faults::first_writes) + of(|f| f.zero_write + f.cow + f.file_write) + in_calls;
    events.insert(Kind::FreeBase, given);
    events.insert(Kind::FreeHuge, of(|f| f.huge));
    events
}

fn simulated(followed: &[(&Cost, &Faults)]) -> BTreeMap<&'static str, f64> {
    let of = |count: fn(&Faults) -> u64| mean(followed.iter().map(|(_, f)| count(f) as f64));
    BTreeMap::from([
        ("malloc_blocks", of(|f| f.malloc_blocks)),
        ("malloc_faults", of(|f| f.malloc_faults)),
        ("other_blocks", of(|f| f.other_blocks)),
        ("other_faults", of(|f| f.other_faults)),
        ("again_malloc", of(|f| f.again_malloc)),
        ("malloc_writes", of(|f| f.malloc_writes)),
        ("processes", of(|f| f.processes)),
    ])
}

/// Records that were lost, or a command that had other faults while it was followed.
fn doubt(followed: &[(&Cost, &Faults)], clean: f64, own: Option<f64>) -> Option<String> {
    let lost: u64 = followed.iter().map(|(_, f)| f.lost.max(f.counted.saturating_sub(f.samples))).sum();
    if lost > 0 {
        return Some(format!(
            "{lost} records of page faults were lost, because they came faster than they could be read; --totals goes without them"
        ));
    }
    let own = own?;
    ((own - clean).abs() > UNLIKE * clean + HOLDING).then(|| {
        format!("the command had {own:.0} page faults while they were followed and {clean:.0} otherwise, so it was not the same")
    })
}
