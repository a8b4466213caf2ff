//! Every call that a method makes, within its phases and in its set-up, fails once with each error that it can plausibly give,
//! is interrupted, or answers short. The cases are made from what the methods' own launches call; strace does it to them.
//! Each case must end in words; no figure of a disturbed call may be believed; nothing is left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use record::method::{Method, Role};
use record::transcript::SideEnding;
use stats::rng::Seeded;

use crate::support::errors;
use crate::support::sides::Worker;
use crate::support::skips::skip;
use crate::support::traced::{Call, Ended, Slot, Watched, small, watch};

/// One method with small parameters, and how its undisturbed launch came out.
struct Subject<'a> {
    method: &'a Method,
    parameters: Vec<(String, String)>,
    digests: BTreeSet<String>,
    /// By side.
    calls: BTreeMap<char, Vec<Call>>,
}

/// One disturbance.
struct Case {
    subject: usize,
    side: char,
    call: String,
    nth: usize,
    fault: &'static str,
    /// Where the undisturbed launch made this call.
    phase: Option<String>,
    /// Whether the sides had not met yet: then the other one waits for half a minute, unless the laboratory ends it.
    before_meeting: bool,
}

/// What a case came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The call was not made this time.
    NotReached,
    /// The cell failed or was skipped, or the worker gave up, in words.
    Named,
    /// A law, a digest or a missing sample keeps its figures from being believed.
    Caught,
    /// The same call was made again.
    Retried,
    /// Outside a phase or allowed to fail, and all that the laboratory checks holds.
    Harmless,
}

/// What is said of a side that did not come to its end.
const HANGS: &str = "it hangs";

struct Laboratory {
    worker: Worker,
    _place: tempfile::TempDir,
    capture: PathBuf,
}

impl Laboratory {
    fn new() -> Option<Laboratory> {
        if Command::new("strace").arg("-V").output().is_err() {
            skip("strace is not installed");
            return None;
        }
        let (worker, place) = (Worker::native("c-O3"), tempfile::tempdir().unwrap());
        let capture = place.path().join("capture");
        let made = Command::new(worker.helper())
            .arg("make-capture")
            .arg(&capture)
            .args(["262144", "9"])
            .output();
        assert!(made.unwrap().status.success());
        Some(Laboratory {
            worker,
            _place: place,
            capture,
        })
    }

    /// Traces a method undisturbed, by small parameters and the values given; none, with the reason, where it cannot run here.
    fn subject<'a>(
        &'a self,
        method: &'a Method,
        given: &[(&str, &str)],
    ) -> Result<Subject<'a>, String> {
        let mut parameters = small(method, &self.capture);
        for (key, value) in &mut parameters {
            if let Some((_, given)) = given.iter().find(|(name, _)| name == key) {
                *value = (*given).to_owned();
            }
        }
        let mut subject = Subject {
            method,
            parameters,
            digests: BTreeSet::new(),
            calls: BTreeMap::new(),
        };
        for side in if method.two_sided { "ab" } else { "a" }.chars() {
            let watched = subject.watch(&self.worker, side, None, false);
            if let Some(end) = watched
                .sides
                .iter()
                .find(|s| !s.is_done() || !endings(s).is_empty())
            {
                return Err(format!("{} {:?} {}", said(end), end.status, end.messages));
            }
            let slot = Slot::of(&watched.sides, &subject.parameters).unwrap();
            if let Some(wrong) = slot.wrong(method, &slot.digests()) {
                return Err(wrong);
            }
            let digests = slot.digests().into_iter().map(str::to_owned).collect();
            subject.digests = digests;
            subject.calls.insert(side, watched.calls);
        }
        Ok(subject)
    }
}

fn endings(side: &Ended) -> &[SideEnding] {
    side.transcript.as_ref().map_or(&[], |t| &t.endings)
}

/// The side's words on why it did not run through.
fn said(side: &Ended) -> String {
    let words = endings(side).iter().map(|ending| match ending {
        SideEnding::Skip { reason, .. } => reason.clone(),
        SideEnding::Fail {
            call, phase, error, ..
        } => format!("{call} in {phase}: {error}"),
        SideEnding::Crash { signal, phase, .. } => format!("{signal} in {phase}"),
    });
    words
        .chain(Some(side.messages.clone()))
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join("; ")
}

impl Subject<'_> {
    fn watch(
        &self,
        worker: &Worker,
        side: char,
        inject: Option<(&str, &str)>,
        ends_the_other: bool,
    ) -> Watched {
        let parameters: Vec<(&str, &str)> = self
            .parameters
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        watch(
            worker,
            self.method,
            &parameters,
            side,
            inject,
            ends_the_other,
        )
    }

    /// The first and the last call of each name in each phase, and between them, by each process; each with all its faults.
    fn cases(&self, number: usize) -> Vec<Case> {
        let mut cases = Vec::new();
        for (&side, calls) in &self.calls {
            // The loader's calls come before the request, which is the first thing that is read from standard input.
            let first = calls
                .iter()
                .position(|c| c.text.starts_with("read(0,"))
                .unwrap_or(0);
            let met = calls
                .iter()
                .position(|c| c.name == "recvfrom")
                .unwrap_or(calls.len());
            let mut seen: BTreeMap<(Option<&str>, &str), Vec<usize>> = BTreeMap::new();
            for (at, call) in calls
                .iter()
                .enumerate()
                .skip(first)
                .filter(|(_, c)| !c.text.starts_with("write(-1,"))
            {
                seen.entry((call.phase.as_deref(), &call.name))
                    .or_default()
                    .push(at);
            }
            for ((phase, name), all) in seen {
                let ends: BTreeSet<usize> = [all[0], all[all.len() / 2], all[all.len() - 1]].into();
                for (at, &fault) in ends
                    .into_iter()
                    .flat_map(|at| errors::of(name).iter().map(move |f| (at, f)))
                {
                    // Linux closes a descriptor whatever it answers, strace does not: who waits for the end waits for ever.
                    if name == "close" && self.method.experiment == "fork" {
                        continue;
                    }
                    // A request is a plain file, whose bytes the kernel does not invent.
                    if calls[at].text.starts_with("read(0,") && fault.starts_with("retval") {
                        continue;
                    }
                    let (call, nth, phase) =
                        (name.to_owned(), calls[at].nth, phase.map(str::to_owned));
                    let before_meeting = self.method.two_sided && at <= met;
                    cases.push(Case {
                        subject: number,
                        side,
                        call,
                        nth,
                        fault,
                        phase,
                        before_meeting,
                    });
                }
            }
        }
        cases
    }

    fn has_another_way(&self, phase: &str) -> bool {
        self.method
            .calls
            .get(phase)
            .is_some_and(|calls| calls.iter().any(|c| c.ends_with('?')))
    }

    fn declares(&self, phase: &str, call: &str) -> bool {
        self.method
            .calls
            .get(phase)
            .is_some_and(|calls| calls.iter().any(|c| c.trim_end_matches('+') == call))
    }

    /// The published programs check no call, and the crash line names the phase. The C library aborts where the stack of a
    /// thread that has ended cannot be given back.
    fn may_crash(&self, case: &Case) -> bool {
        let has_threads = |phase: &String| self.declares(phase, "clone3?");
        self.method.role == Role::Published
            || case.call == "munmap" && case.phase.as_ref().is_some_and(has_threads)
    }

    /// What became of a disturbed launch; an error is a finding.
    fn judge(&self, case: &Case, watched: &Watched) -> Result<Outcome, String> {
        let side = &watched.sides[if case.side == 'b' { 1 } else { 0 }];
        // An eventfd has no end that a reader could see; the laboratory ends the side whose other one failed.
        let failed = side.status.is_some_and(|status| !status.success());
        let may_wait = |s: &&Ended| failed && !std::ptr::eq(*s, side);
        // Each thread counts for itself, so a case of a child's may meet its parent's request, or its loader.
        // And waking is not waiting: no signal interrupts it.
        let invented = |c: &Call| {
            let request = c.text.starts_with("read(0,") && case.fault.starts_with("retval");
            request || (c.name == "futex" && c.text.contains("FUTEX_WAKE"))
        };
        if watched.calls.iter().any(|c| c.is_injected() && invented(c)) {
            return Ok(Outcome::NotReached);
        }
        if watched
            .sides
            .iter()
            .filter(|s| !may_wait(s))
            .any(|s| s.status.is_none())
        {
            return Err(HANGS.to_owned());
        }
        // A segment whose removal was refused is there still, whatever the worker does.
        if !watched.segments.is_empty() && case.call != "shmctl" {
            return Err(format!("it leaves {:?}", watched.segments));
        }
        let asked = watched
            .calls
            .iter()
            .position(|c| c.text.starts_with("read(0,"))
            .unwrap_or(usize::MAX);
        let found = watched.calls.iter().position(Call::is_injected);
        let Some(at) = found.filter(|&at| at >= asked) else {
            return Ok(Outcome::NotReached);
        };
        let crashed = endings(side)
            .iter()
            .any(|e| matches!(e, SideEnding::Crash { .. }));
        if crashed && self.may_crash(case) {
            return Ok(Outcome::Named);
        }
        if crashed || side.signal().is_some() {
            return Err(format!("it crashes: {:?} {}", side.status, said(side)));
        }
        let words = said(side);
        if !words.is_empty() || !side.is_done() {
            if endings(side)
                .iter()
                .any(|e| matches!(e, SideEnding::Skip { .. }))
            {
                println!("skipped: {}: {words}", Named(self, case));
            }
            let named = errors::names(&words, &case.call);
            return if named {
                Ok(Outcome::Named)
            } else {
                Err(format!("its words do not name the call: {words:?}"))
            };
        }
        // What a dying worker leaves is removed by the guard; one that comes to its end clears up shared memory by itself.
        if !watched.names.is_empty() && !case.call.starts_with("unlink") {
            return Err(format!("it leaves {:?}", watched.names));
        }
        if let Some(other) = watched.sides.iter().find(|s| !s.is_done()) {
            return Err(format!("only the other side says: {}", said(other)));
        }
        let digests = self.digests.iter().map(String::as_str).collect();
        if Slot::of(&watched.sides, &self.parameters)
            .is_none_or(|slot| slot.wrong(self.method, &digests).is_some())
        {
            return Ok(Outcome::Caught);
        }
        let disturbed = &watched.calls[at];
        if watched.calls[at + 1..]
            .iter()
            .any(|c| c.thread == disturbed.thread && c.is_again(disturbed))
        {
            return Ok(Outcome::Retried);
        }
        match &disturbed.phase {
            // The answer of a kernel that does not know the advice: the method declares another call, or does without, and
            // a law proves what the advice was for.
            Some(phase) if case.fault == "error=EINVAL" && self.has_another_way(phase) => {
                Ok(Outcome::Retried)
            }
            Some(_) if case.fault == "error=EINVAL" && case.call == "madvise" => {
                Ok(Outcome::Harmless)
            }
            // The C library's own: it gives its child's stack back, and says nothing where it could not.
            Some(_) if self.method.name == "posix-spawn" && case.call == "munmap" => {
                Ok(Outcome::Harmless)
            }
            // malloc turns to the heap where it gets no mapping; its laws say what must come of it.
            Some(phase) if self.method.experiment == "allocate" && self.has_another_way(phase) => {
                Ok(Outcome::Harmless)
            }
            Some(phase) if self.declares(phase, &disturbed.name) => {
                Err(format!("its figure of {phase} is believed"))
            }
            _ => Ok(Outcome::Harmless),
        }
    }
}

/// A case as the words that repeat it.
struct Named<'a>(&'a Subject<'a>, &'a Case);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, case) = (self.0.method, self.1);
        let phase = case.phase.as_deref().unwrap_or("-");
        let (call, fault, nth) = (&case.call, case.fault, case.nth);
        write!(
            f,
            "{}/{} side {} {phase} {call}:{fault}:when={nth}",
            method.experiment, method.name, case.side
        )
    }
}

/// Tries all cases, several at a time; what was found, and how often each outcome came.
fn try_all(
    worker: &Worker,
    subjects: &[Subject],
    cases: &[Case],
) -> (Vec<String>, BTreeMap<Outcome, usize>) {
    let (next, found) = (
        AtomicUsize::new(0),
        Mutex::new((Vec::new(), BTreeMap::new())),
    );
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let subject = &subjects[case.subject];
                    let how = format!("{}:when={}", case.fault, case.nth);
                    let watch = || {
                        subject.watch(
                            worker,
                            case.side,
                            Some((&case.call, &how)),
                            case.before_meeting,
                        )
                    };
                    let mut result = subject.judge(case, &watch());
                    // A machine that stood still meanwhile looks like a launch that hangs.
                    if result.as_ref().is_err_and(|why| why == HANGS) {
                        result = subject.judge(case, &watch());
                    }
                    let mut found = found.lock().unwrap();
                    match result {
                        Ok(outcome) => {
                            // What was believed although a call of its phase failed is told, so that somebody can doubt it.
                            if outcome == Outcome::Harmless && case.phase.is_some() {
                                println!("harmless: {}", Named(subject, case));
                            }
                            *found.1.entry(outcome).or_default() += 1;
                        }
                        Err(why) => {
                            println!("found: {}: {why}", Named(subject, case));
                            found.0.push(format!("{}: {why}", Named(subject, case)));
                        }
                    }
                }
            });
        }
    });
    let (mut found, counts) = found.into_inner().unwrap();
    found.sort();
    (found, counts)
}

/// Methods whose launches are not disturbed: they need what a test does not give them. A pool of huge pages may be there.
fn is_left_alone(method: &Method) -> bool {
    method.preload.is_some()
        || method.tunables.is_some()
        || method
            .needs
            .as_ref()
            .is_some_and(|needs| needs != "huge-pages")
        || ["selftest", "price"].contains(&method.experiment.as_str())
}

fn subjects<'a>(
    laboratory: &'a Laboratory,
    methods: &[&'a Method],
    given: &[(&str, &str)],
) -> Vec<Subject<'a>> {
    // A busy machine may break a law of an undisturbed launch.
    let trace = |method| {
        (1..3).fold(laboratory.subject(method, given), |t, _| {
            t.or_else(|_| laboratory.subject(method, given))
        })
    };
    let tried = methods.iter().map(|method| (method, trace(*method)));
    let kept = tried.filter_map(|(method, subject)| match subject {
        Ok(subject) => Some(subject),
        Err(why) => {
            skip(&format!(
                "{}/{} does not run here: {why}",
                method.experiment, method.name
            ));
            None
        }
    });
    kept.collect()
}

#[test]
fn a_call_that_fails_ends_in_words_and_in_no_figure() {
    let Some(laboratory) = Laboratory::new() else {
        return;
    };
    let mut rng = Seeded::new(17);
    // Those whose every case has been tried (docs/robustness.md).
    let tried = [
        "fault/touch",
        "share/sysv-shm",
        "fork/cow-parent",
        "read/pread",
        "unmap/munmap",
    ];
    let is_tried = |m: &&Method| tried.contains(&format!("{}/{}", m.experiment, m.name).as_str());
    let methods: Vec<&Method> = laboratory.worker.methods.iter().filter(is_tried).collect();
    let subjects = subjects(&laboratory, &methods, &[]);
    let mut cases = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let mut own = subject.cases(number);
        rng.shuffle(&mut own);
        cases.extend(own.into_iter().take(14));
    }
    assert!(cases.len() >= 50, "{}", cases.len());
    let (found, counts) = try_all(&laboratory.worker, &subjects, &cases);
    assert!(found.is_empty(), "{counts:?}\n{}", found.join("\n"));
    assert!(
        counts.get(&Outcome::Named).is_some_and(|n| *n > 10),
        "{counts:?}"
    );
}

/// `cargo test --test it injected:: -- --ignored --nocapture`; `PAGEWISE_INJECT=share/` takes one experiment or method, and
/// `PAGEWISE_INJECT="restore/uffd-thread pin=same"` a method with a value of a parameter.
#[test]
#[ignore = "thousands of launches: minutes"]
fn every_call_that_fails_ends_in_words_and_in_no_figure() {
    let Some(laboratory) = Laboratory::new() else {
        return;
    };
    let wanted = std::env::var("PAGEWISE_INJECT").unwrap_or_default();
    let (wanted, given) = wanted.split_once(' ').unwrap_or((&wanted, ""));
    let given: Vec<(&str, &str)> = given
        .split(' ')
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let is_wanted = |m: &&Method| {
        !is_left_alone(m) && format!("{}/{}", m.experiment, m.name).starts_with(wanted)
    };
    let methods: Vec<&Method> = laboratory.worker.methods.iter().filter(is_wanted).collect();
    let subjects = subjects(&laboratory, &methods, &given);
    let cases: Vec<Case> = subjects
        .iter()
        .enumerate()
        .flat_map(|(number, s)| s.cases(number))
        .collect();
    let (found, counts) = try_all(&laboratory.worker, &subjects, &cases);
    println!(
        "{} methods, {} cases: {counts:?}, {} found",
        subjects.len(),
        cases.len(),
        found.len()
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(!wanted.is_empty() || cases.len() >= 1000, "{}", cases.len());
}
