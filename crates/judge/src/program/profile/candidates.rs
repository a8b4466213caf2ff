//! Settings worth a try, with the kernel time they would save. Effects of the hardware (translation, caches) are not predicted.

use super::blocks::{ProfileBlock, rough, typical};
use super::counts::Counted;
use record::command::MemoryEvent::{
    Again, Anonymous, Elsewhere, FreeBase, FreeHuge, Heap, Huge, ZeroRead, ZeroWrite,
};
use record::command::{Amount, Candidate, CommandPlan, ObservedEffects};

/// Savings below this share of the command's CPU time are not worth a word.
const WORTH: f64 = 0.003;
/// Error that covers nine tenths of the measured savings (docs/validity.md): of `keep` as a share of the prediction, of huge
/// pages, whose price scatters, of what the removed faults cost.
const KEEP_ERROR: f64 = 0.5;
const HUGE_ERROR: f64 = 25.9;
/// Pages that are cleared for each page fault that is saved, from which on keeping memory costs more than it saves: a page
/// fault costs several times as much as clearing a page does.
const UNUSED: f64 = 2.0;
/// Base pages of a huge page.
const PAGES: u64 = 512;
/// Base pages touched of a huge page below which it costs more than their page faults: the kernel clears all 512.
const FEW: f64 = 64.0;
/// Share of huge pages that are touched in the order of their addresses from which on they are used whole.
const IN_ORDER: f64 = 0.8;
/// Share of CPU time that huge pages cost from which on a program without them is worth a try: no more than that is saved.
const COSTLY: f64 = 0.05;

/// Settings worth a try, the largest saving first; nothing where kinds are not known.
pub(super) fn candidates(
    plan: &CommandPlan,
    counted: &Counted<'_>,
    blocks: &[ProfileBlock],
    proof: Option<&ObservedEffects>,
) -> Vec<Candidate> {
    if counted.followed.is_empty() {
        return Vec::new();
    }
    let Some(pages) = &plan.pages else {
        return Vec::new();
    };
    let mut changes = Vec::new();
    let [has_glibc, has_libc] = libraries(proof.map_or(&[], |proof| &proof.modules));
    let is_off =
        proof.is_some_and(|proof| proof.processes > 0 && proof.thp_disabled >= proof.processes);
    if has_glibc && sparse_blocks(counted).is_none() {
        changes.push(Change {
            setting: "keep",
            faults_saved: counted.foreseen(|f| f.again_malloc),
            huge_saved: counted.foreseen(|f| f.again_huge),
            huge_pages: 0.0,
        });
    }
    // Where every mapping gets huge pages already, asking for them changes nothing, nor where a program forbids itself all, as
    // Redis does.
    let asks = !is_off && pages.thp == "madvise" && pages.huge_page_bytes == 2 << 20;
    if asks && has_libc && sparse_huge(counted).is_none() {
        let (faults, blocks) = (
            counted.foreseen(|f| f.other_faults),
            counted.foreseen(|f| f.other_blocks),
        );
        changes.push(Change {
            setting: "thp",
            faults_saved: counted.foreseen(|f| f.malloc_faults) + faults,
            huge_saved: 0.0,
            huge_pages: counted.foreseen(|f| f.malloc_blocks) + blocks,
        });
        if counted.followed.iter().any(|(_, faults)| faults.java) {
            changes.push(Change {
                setting: "java-thp",
                faults_saved: faults,
                huge_saved: 0.0,
                huge_pages: blocks,
            });
        }
    }
    // Beyond what was resident at once, huge pages are recycled ones.
    let resident = counted.shown.max_rss_bytes / pages.huge_page_bytes.max(1) as f64;
    // Whose memory a process that runs already has given back is not seen, so nothing is a figure.
    let is_seen = plan.attached.is_none();
    let mut candidates: Vec<Candidate> = changes
        .iter()
        .filter_map(|change| change.candidate(counted, resident, is_seen, blocks))
        .collect();
    candidates.extend(without_huge_pages(counted, blocks));
    candidates.sort_by(|a, b| b.kernel_s.value.total_cmp(&a.kernel_s.value));
    without_contradiction(&mut candidates);
    candidates
}

/// Whether tunables of glibc act on the program, and whether a library can be preloaded into it: neither where Go's runtime is
/// linked with no C library. Where nothing or no library is known, a program may be linked with glibc statically.
fn libraries(modules: &[String]) -> [bool; 2] {
    let has = |starts: &[&str]| {
        let mut names = modules.iter();
        names.any(|name| starts.iter().any(|start| name.starts_with(start)))
    };
    let glibc = has(&["libc.so", "libc-"]);
    let musl = has(&["ld-musl", "libc.musl"]);
    let is_static = !musl && !has(&["[go]"]);
    [glibc || is_static, glibc || musl || is_static]
}

/// Of settings that bring huge pages and those that take them away, leaves the kind that may save more.
fn without_contradiction(candidates: &mut Vec<Candidate>) {
    let mut signs = candidates.iter().map(|c| c.huge_pages.signum());
    if let Some(sign) = signs.find(|sign| *sign != 0.0) {
        candidates.retain(|c| c.huge_pages == 0.0 || c.huge_pages.signum() == sign);
    }
}

/// Pages that calloc would clear if malloc kept its blocks, where these are more than the faults that this would save.
pub(super) fn sparse_blocks(counted: &Counted<'_>) -> Option<f64> {
    let unused = counted.foreseen(|f| f.unused_pages);
    let saved = counted.foreseen(|f| {
        f.again_malloc
            .saturating_add(PAGES.saturating_mul(f.again_huge))
    });
    (saved >= 1.0 && unused > UNUSED * saved).then_some(unused)
}

/// Base pages that are touched of each page that would be huge, where these are so few that huge pages make more work.
pub(super) fn sparse_huge(counted: &Counted<'_>) -> Option<f64> {
    let blocks = counted.foreseen(|f| f.malloc_blocks.saturating_add(f.other_blocks));
    let faults = counted.foreseen(|f| f.malloc_faults.saturating_add(f.other_faults));
    let touched = faults / blocks.max(1.0);
    (blocks >= 1.0 && touched < FEW).then_some(touched)
}

/// True if huge pages were mostly touched in the order of their addresses, as memory is that is written whole: base pages would
/// cost more. A random order has half of them above one that was touched before.
pub(super) fn are_used(counted: &Counted<'_>) -> bool {
    counted.foreseen(|f| f.huge_in_order) >= IN_ORDER * counted.count(Huge).max(1.0)
}

/// The setting that takes huge pages away, where they cost much: its saving is at most their cost, and none if all of each is
/// used.
fn without_huge_pages(counted: &Counted<'_>, blocks: &[ProfileBlock]) -> Option<Candidate> {
    if are_used(counted) {
        return None;
    }
    let huge_pages = counted.count(Huge);
    let costs: Vec<f64> = blocks
        .iter()
        .map(|block| block.cost_s(counted, |event| matches!(event, Huge | FreeHuge)))
        .collect();
    let (by_block, value) = (rough(costs.iter().copied()), typical(costs.into_iter()));
    let cpu_s = rough(blocks.iter().map(|block| block.plain.cpu_s()));
    (huge_pages >= 1.0 && value >= COSTLY * cpu_s.value).then(|| Candidate {
        setting: "no-thp".to_owned(),
        faults_saved: 0.0,
        huge_pages: -huge_pages,
        kernel_s: Amount {
            value,
            low: -HUGE_ERROR * value,
            high: by_block.high.max(value),
        },
    })
}

/// Effect of a setting on the program's memory.
struct Change {
    setting: &'static str,
    /// Faults on base pages that it would take away.
    faults_saved: f64,
    /// Faults for huge pages that it would take away.
    huge_saved: f64,
    /// Huge pages that would come instead.
    huge_pages: f64,
}

impl Change {
    fn candidate(
        &self,
        counted: &Counted<'_>,
        resident: f64,
        is_seen: bool,
        blocks: &[ProfileBlock],
    ) -> Option<Candidate> {
        // Some launches may have met no free huge pages.
        let priced: Vec<&ProfileBlock> = blocks
            .iter()
            .filter(|block| self.huge_pages <= 0.0 || block.prices.price(Huge).is_some())
            .collect();
        if self.faults_saved + self.huge_saved < 1.0 || 2 * priced.len() <= blocks.len() {
            return None;
        }
        let removed_s = |block: &ProfileBlock| {
            self.faults_saved * (fault_s(block, counted) + block.price_s(FreeBase))
        };
        let huge_s = |block: &ProfileBlock| self.huge_s(block, resident);
        let removed_huge_s = |block: &ProfileBlock| {
            self.huge_saved * (block.price_s(Huge) + block.price_s(FreeHuge))
        };
        let by_block = rough(
            priced
                .iter()
                .map(|block| removed_s(block) + removed_huge_s(block) - huge_s(block)),
        );
        let cpu_s = rough(blocks.iter().map(|block| block.plain.cpu_s())).value;
        let cost_s = typical(priced.iter().map(|block| removed_s(block)));
        let huge_cost_s = typical(priced.iter().map(|block| removed_huge_s(block)));
        let value = cost_s + huge_cost_s - typical(priced.iter().map(|block| huge_s(block)));
        let error_s = if self.huge_pages > 0.0 || !is_seen {
            HUGE_ERROR * cost_s
        } else {
            // A kept block that calloc takes is cleared, which is most of what a huge page costs: that part may save nothing.
            KEEP_ERROR * cost_s + huge_cost_s + Candidate::KEEP_SLACK * cpu_s
        };
        (value.abs() >= WORTH * cpu_s).then(|| Candidate {
            setting: self.setting.to_owned(),
            faults_saved: self.faults_saved + self.huge_saved,
            huge_pages: self.huge_pages,
            kernel_s: Amount {
                value,
                low: by_block.low.min(value - error_s),
                high: by_block.high.max(value + error_s),
            },
        })
    }

    /// Cost of the huge pages that come; those beyond what was resident at once are cheaper.
    fn huge_s(&self, block: &ProfileBlock, resident: f64) -> f64 {
        let again_s = block.prices.huge_again_s * block.scale;
        let cheaper_s = (self.huge_pages - resident).max(0.0) * (block.price_s(Huge) - again_s);
        self.huge_pages * (block.price_s(Huge) + block.price_s(FreeHuge)) - cheaper_s
    }
}

/// Cost of a page fault on the program's own memory, by the kinds that it has.
fn fault_s(block: &ProfileBlock, counted: &Counted<'_>) -> f64 {
    let kinds = [Heap, Anonymous, Again, Elsewhere, ZeroRead, ZeroWrite];
    let counts = kinds.map(|kind| (kind, counted.count(kind)));
    let total: f64 = counts.iter().map(|(_, count)| count).sum();
    if total < 1.0 {
        return block.price_s(Heap);
    }
    let costs = counts
        .iter()
        .map(|(kind, count)| count * block.price_s(*kind));
    costs.sum::<f64>() / total
}

#[cfg(test)]
mod tests {
    use super::super::{example::*, judge, predictions};
    use record::command::{
        Amount, Candidate, CommandLaunch, Faults, LaunchMode, MemoryEvent, ObservedEffects,
        PricePhase, ProfileSummary, SuggestionKind,
    };
    use std::collections::BTreeMap;

    fn candidate<'a>(summary: &'a ProfileSummary, setting: &str) -> Option<&'a Candidate> {
        summary.candidates.iter().find(|c| c.setting == setting)
    }

    fn faults_saved(summary: &ProfileSummary, setting: &str) -> Option<f64> {
        candidate(summary, setting).map(|candidate| candidate.faults_saved)
    }

    /// A profile of a command that asks again for so much of what it gave back.
    fn asking_again(again_malloc: u64) -> ProfileSummary {
        let mut launches = runs(|_| 2_000);
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            if let Some(faults) = &mut cost.faults {
                (faults.malloc_writes, faults.again_malloc) = (17_920, again_malloc);
            }
        }
        judge(&plan(), &launches)
    }

    #[test]
    fn settings_are_foreseen_by_the_launch_that_saw_the_end_of_mappings() {
        let mut launches = runs(|_| 2_000);
        let seen = Faults {
            malloc_faults: 9_000,
            malloc_blocks: 20,
            again_malloc: 4_000,
            ..faults()
        };
        let calls = BTreeMap::from([("mremap".to_owned(), 3)]);
        launches[1].cost.as_mut().unwrap().faults = Some(Faults {
            calls: calls.clone(),
            ..seen.clone()
        });
        let of = judge(&plan(), &launches);
        assert_eq!(
            (
                faults_saved(&of, "thp"),
                faults_saved(&of, "keep"),
                of.mappings
            ),
            (Some(9_000.0), Some(4_000.0), calls.clone())
        );
        // Faults that were lost, or calls that were not seen, leave it to the other launches.
        for other in [
            Faults {
                calls,
                lost: 1,
                ..seen.clone()
            },
            seen,
        ] {
            launches[1].cost.as_mut().unwrap().faults = Some(other);
            let of = judge(&plan(), &launches);
            assert_eq!(
                (
                    faults_saved(&of, "thp"),
                    faults_saved(&of, "keep"),
                    of.mappings
                ),
                (Some(17_920.0), None, BTreeMap::new())
            );
        }
    }

    #[test]
    fn what_would_be_huge_is_saved_and_its_huge_pages_paid() {
        let of = usual();
        let thp = candidate(&of, "thp").unwrap();
        let faults = 17_920.0;
        near(thp.faults_saved, faults);
        near(thp.kernel_s.value, faults * 2.25e-6 - 35.0 * 505e-6);
        // The price of a huge page scatters so much that its interval holds no figure.
        assert!(thp.kernel_s.low < 0.0 && predictions(&of).is_empty());
        // Of 35 huge pages only 10 are resident at once: the others are recycled, at 300 µs.
        let mut launches = runs(|_| 2_000);
        for run in &mut launches {
            run.cost
                .iter_mut()
                .for_each(|cost| cost.max_rss_kib = 20 << 10);
            let again = PricePhase {
                cpu_ns: 300_000 * 40,
                ops: 20_480,
                bytes: 80 << 20,
                minor_faults: 40,
            };
            run.phases.entry("refault".to_owned()).or_insert(again);
        }
        let of = judge(&plan(), &launches);
        let thp = candidate(&of, "thp").unwrap();
        near(
            thp.kernel_s.value,
            faults * 2.25e-6 - 35.0 * 505e-6 + 25.0 * 200e-6,
        );
    }

    #[test]
    fn huge_pages_are_worth_a_try_unless_they_are_foretold_to_cost_much() {
        let mut of = usual();
        let cpu_s = of.cpu_s.unwrap();
        of.candidates = [
            ("keep", 0.0, 0.019),
            ("thp", 10.0, -0.09),
            ("java-thp", 10.0, -0.11),
            ("keep-more", 0.0, 0.021),
        ]
        .map(|(setting, huge_pages, share)| Candidate {
            setting: setting.to_owned(),
            faults_saved: 1e4,
            huge_pages,
            kernel_s: Amount {
                value: share * cpu_s.value,
                ..cpu_s
            },
        })
        .to_vec();
        assert_eq!(
            of.worth_a_try()
                .map(|c| c.setting.as_str())
                .collect::<Vec<_>>(),
            ["thp", "keep-more"]
        );
    }

    #[test]
    fn only_what_came_again_would_be_kept() {
        let (few, many) = (asking_again(5_000), asking_again(17_920));
        let keep_few = candidate(&few, "keep").unwrap();
        let keep_many = candidate(&many, "keep").unwrap();
        near(keep_few.faults_saved, 5_000.0);
        // The model's own error is part of the interval: half of the prediction, and 2 % of the second of CPU time.
        let saved = keep_many.kernel_s;
        near(saved.high - saved.value, saved.value / 2.0 + 0.02);
        near(saved.value - saved.low, saved.value / 2.0 + 0.02);
        assert!(
            keep_many.is_settled() && predictions(&many)["keep"].high < 0.0,
            "it saves something"
        );
        assert!(
            !keep_few.is_settled() && keep_few.kernel_s.value > 0.0,
            "1 % of CPU time has no figure"
        );
    }

    #[test]
    fn huge_pages_that_come_again_would_be_kept_and_are_no_figure() {
        let of = with_faults(|f| {
            f.kinds.insert(MemoryEvent::Huge, 90);
            (f.again_malloc, f.again_huge) = (10, 80);
        });
        let keep = candidate(&of, "keep").unwrap();
        near(keep.faults_saved, 90.0);
        near(keep.kernel_s.value, 10.0 * 2.25e-6 + 80.0 * 505e-6);
        assert!(!keep.is_settled() && of.worth_a_try().any(|c| c.setting == "keep"));
    }

    /// A profile whose followed launches saw these faults.
    fn with_faults(change: fn(&mut Faults)) -> ProfileSummary {
        let mut launches = runs(|_| 2_000);
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            cost.faults.iter_mut().for_each(change);
        }
        judge(&plan(), &launches)
    }

    #[test]
    fn a_program_that_forbids_itself_huge_pages_is_not_asked_for_them() {
        let with = |processes: u64, thp_disabled: u64| {
            let mut launches = runs(|_| 2_000);
            launches[1].cost.as_mut().unwrap().proof = Some(ObservedEffects {
                processes,
                thp_disabled,
                ..ObservedEffects::default()
            });
            faults_saved(&judge(&plan(), &launches), "thp").is_some()
        };
        assert!(with(2, 0) && with(2, 1) && !with(2, 2));
    }

    #[test]
    fn what_makes_other_work_is_not_proposed() {
        // Of 48 MiB that calloc had, few pages were touched: if malloc kept it, calloc would clear it whole.
        let sparse = with_faults(|f| (f.again_malloc, f.unused_pages) = (4_000, 80_000));
        assert_eq!(faults_saved(&sparse, "keep"), None);
        assert!(faults_saved(&asking_again(4_000), "keep").is_some());
        // Eight base pages are touched of each that would be huge.
        let few = with_faults(|f| (f.malloc_blocks, f.malloc_faults) = (2_240, 17_920));
        assert_eq!(faults_saved(&few, "thp"), None);
        let codes: Vec<&str> = [&sparse, &few]
            .iter()
            .flat_map(|of| of.notes.iter().map(|note| note.kind.code()))
            .collect();
        assert!(
            codes.contains(&"sparse-blocks") && codes.contains(&"sparse-huge"),
            "{codes:?}"
        );
    }

    #[test]
    fn where_huge_pages_are_the_cost_a_program_without_them_is_worth_a_try() {
        let of = with_faults(|f| {
            f.kinds.insert(MemoryEvent::Huge, 110);
        });
        let without = candidate(&of, "no-thp").unwrap();
        // 110 huge pages at 505 µs are 5.6 % of the second.
        near(without.kernel_s.value, 110.0 * 505e-6);
        assert!(!without.is_settled() && without.huge_pages == -110.0);
        assert!(candidate(&usual(), "no-thp").is_none());
        let few = with_faults(|f| {
            f.kinds.insert(MemoryEvent::Huge, 90);
        });
        assert!(candidate(&few, "no-thp").is_none());
        // Memory that is written from its start on uses them whole.
        let whole = with_faults(|f| {
            f.kinds.insert(MemoryEvent::Huge, 110);
            f.huge_in_order = 105;
        });
        assert!(candidate(&whole, "no-thp").is_none());
        let kinds = |of: &ProfileSummary| -> Vec<_> { of.advice.iter().map(|a| a.kind).collect() };
        assert!(kinds(&of).contains(&SuggestionKind::SmallPages));
        assert!(!kinds(&whole).contains(&SuggestionKind::SmallPages));
    }

    #[test]
    fn what_is_saved_costs_what_faults_of_its_kinds_cost() {
        let mut launches = runs(|_| 2_000);
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            if let Some(faults) = &mut cost.faults {
                faults.kinds.remove(&MemoryEvent::Heap);
                faults.kinds.insert(MemoryEvent::ZeroRead, 8_960);
                faults.kinds.insert(MemoryEvent::ZeroWrite, 8_960);
            }
        }
        for block in 0..BLOCKS {
            let zero = [("zero-read", 1_000, 1_024), ("zero-write", 1_500, 1_024)];
            launches.push(priced(block, LaunchMode::PriceEvents, &zero));
        }
        let of = judge(&plan(), &launches);
        let thp = candidate(&of, "thp").unwrap();
        near(thp.kernel_s.value, 17_920.0 * 1.5e-6 - 35.0 * 505e-6);
    }

    /// Settings that a profile of a program with these files of code finds.
    fn settings_with(modules: &[&str]) -> Vec<String> {
        let mut launches = runs(|_| 2_000);
        for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
            if let Some(faults) = &mut cost.faults {
                (faults.malloc_writes, faults.again_malloc) = (17_920, 17_920);
            }
        }
        launches[1].cost.as_mut().unwrap().proof = Some(ObservedEffects {
            modules: modules.iter().map(|name| (*name).to_owned()).collect(),
            ..ObservedEffects::default()
        });
        let of = judge(&plan(), &launches);
        let mut names: Vec<String> = of.candidates.into_iter().map(|c| c.setting).collect();
        names.sort();
        names
    }

    #[test]
    fn what_cannot_act_on_a_program_is_not_proposed() {
        assert_eq!(settings_with(&["sort", "libc.so.6"]), ["keep", "thp"]);
        assert_eq!(settings_with(&["static"]), ["keep", "thp"]);
        assert_eq!(settings_with(&["sort", "ld-musl-x86_64.so.1"]), ["thp"]);
        assert!(settings_with(&["service", "[go]"]).is_empty());
        assert_eq!(
            settings_with(&["service", "[go]", "libc.so.6"]),
            ["keep", "thp"]
        );
    }

    /// Prices of a fresh huge page as eight launches on a virtual machine found them, whose host gives memory late (docs/validity.md):
    /// about 400 µs, or several times as much.
    const TWO_LEVELS_NS: [u64; 8] = [
        404_000, 3_237_000, 412_000, 1_786_000, 2_990_000, 409_000, 959_000, 3_105_000,
    ];

    /// Gives the blocks of a profile these prices of fresh huge pages, in nanoseconds.
    fn with_huge_prices(launches: &mut [CommandLaunch], prices_ns: &[u64]) {
        let priced = launches
            .iter_mut()
            .filter(|launch| launch.mode == LaunchMode::PriceHuge);
        for (launch, each_ns) in priced.zip(prices_ns.iter().cycle()) {
            let phase = launch.phases.get_mut("first-touch").unwrap();
            phase.cpu_ns = each_ns * phase.minor_faults;
        }
    }

    #[test]
    fn memory_that_a_host_gives_late_changes_no_proposal() {
        let thp = |blocks: i64, prices_ns: &[u64]| {
            let mut launches = runs(|_| 2_000);
            launches.retain(|launch| launch.block < blocks);
            with_huge_prices(&mut launches, prices_ns);
            let of = judge(&plan(), &launches);
            let is_proposed = of.worth_a_try().any(|c| c.setting == "thp");
            (candidate(&of, "thp").unwrap().kernel_s.value, is_proposed)
        };
        let steady = thp(8, &[409_000]);
        assert!(steady.0 > 0.02 && steady.1, "{steady:?}");
        let mut prices_ns = TWO_LEVELS_NS;
        for blocks in [3, 4, 6, 8] {
            for _ in 0..prices_ns.len() {
                prices_ns.rotate_left(1);
                let found = thp(blocks, &prices_ns);
                let met = &prices_ns[..blocks as usize];
                // One launch of three without delay is enough, and two of eight are.
                if met.iter().filter(|price| **price < 500_000).count() > (met.len() - 1) / 4 {
                    assert!((found.0 - steady.0).abs() < 0.001, "{found:?} {met:?}");
                    assert!(found.1, "{met:?}");
                }
            }
        }
        // All of three delayed twice as much cost what they cost.
        let dear = thp(3, &[5_000_000]);
        assert!(dear.0 < -0.1 && !dear.1, "{dear:?}");
    }

    #[test]
    fn one_launch_without_huge_pages_hides_no_proposal() {
        let mut launches = runs(|_| 2_000);
        let mut huge = launches
            .iter_mut()
            .filter(|launch| launch.mode == LaunchMode::PriceHuge);
        // Fewer huge pages than there is memory: some of it was base pages.
        let phases = &mut huge.next().unwrap().phases;
        phases.get_mut("first-touch").unwrap().minor_faults = 552;
        let of = judge(&plan(), &launches);
        let value = candidate(&of, "thp").unwrap().kernel_s.value;
        near(value, candidate(&usual(), "thp").unwrap().kernel_s.value);
    }

    #[test]
    fn huge_pages_are_not_proposed_both_ways() {
        let settings = |blocks: u64| {
            let mut launches = runs(|_| 2_000);
            for cost in launches.iter_mut().filter_map(|run| run.cost.as_mut()) {
                if let Some(faults) = &mut cost.faults {
                    faults.kinds.insert(MemoryEvent::Huge, 110);
                    (faults.malloc_faults, faults.malloc_blocks) = (512 * blocks, blocks);
                }
            }
            let of = judge(&plan(), &launches);
            let names: Vec<String> = of.candidates.into_iter().map(|c| c.setting).collect();
            names
        };
        // 40 more huge pages save less than the 110 that are there cost, 100 save more.
        assert_eq!(settings(40), ["no-thp"]);
        assert_eq!(settings(100), ["thp"]);
    }

    #[test]
    fn without_a_price_of_a_huge_page_nothing_is_said_of_it() {
        let mut broken = runs(|_| 2_000);
        for run in broken
            .iter_mut()
            .filter(|r| r.mode == LaunchMode::PriceHuge)
        {
            // Fewer huge pages than there is memory: some of it was base pages.
            run.phases.get_mut("first-touch").unwrap().minor_faults = 552;
        }
        assert!(judge(&plan(), &broken).candidates.is_empty());
        let mut always = plan();
        always.pages.as_mut().unwrap().thp = "always".to_owned();
        assert!(
            judge(&always, &runs(|_| 2_000)).candidates.is_empty(),
            "what is huge anyway is no candidate"
        );
    }
}
