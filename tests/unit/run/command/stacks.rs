use super::*;
use record::command::{CommandCost, ObservedEffects};

fn line(tag: u8, kind: u32, weight: u32, pid: i32, more: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = [1u64, 2, 3, 4]
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    bytes.extend(
        [u32::from(tag), kind, weight, more.len() as u32]
            .iter()
            .flat_map(|half| half.to_ne_bytes()),
    );
    bytes.extend([pid, 0].iter().flat_map(|half| half.to_ne_bytes()));
    bytes.extend(more);
    bytes
}

#[test]
fn a_line_that_is_cut_ends_the_file() {
    let bytes = [
        line(b'M', 0, 0, 7, b"/bin/x"),
        line(b'S', 9, 5, 7, &[1; 16]),
    ]
    .concat();
    let read: Vec<SavedLine<'_>> = lines(&bytes).collect();
    assert_eq!(
        (read[0].tag, read[0].more, read[0].numbers),
        (b'M', &b"/bin/x"[..], [1, 2, 3, 4])
    );
    assert_eq!(
        (
            read[1].kind,
            read[1].weight,
            read[1].pid,
            read[1].more.len()
        ),
        (9, 5, 7, 16)
    );
    assert_eq!(KINDS[read[1].kind as usize], MemoryEvent::Cow);
    for end in 0..bytes.len() {
        assert!(lines(&bytes[..end]).count() < 2);
    }
}

#[test]
fn periods_are_primes_that_change_and_leave_each_process_its_stacks() {
    let launch = |mode, cost| CommandLaunch {
        mode,
        cost: Some(cost),
        ..CommandLaunch::default()
    };
    const SECOND: u64 = 1_000_000;
    let launches = |minor_faults, processes, user_us| {
        let proof = Some(ObservedEffects {
            processes,
            ..ObservedEffects::default()
        });
        let cost = CommandCost {
            minor_faults,
            user_us,
            ..CommandCost::default()
        };
        [
            launch(LaunchMode::Plain, cost.clone()),
            launch(LaunchMode::Traced, CommandCost { proof, ..cost }),
        ]
    };
    assert_eq!(period(&launches(499, 1, SECOND), 3), 1);
    let of_many: Vec<u64> = (0..3)
        .map(|block| period(&launches(90_000, 1, SECOND), block))
        .collect();
    assert_eq!(of_many, [367, 373, 379]);
    assert_eq!(period(&launches(90_000, 1000, SECOND), 0), 11);
    // A short program has fewer of them, so that they cost little of its time.
    assert_eq!(
        [60_000, 10_000].map(|user_us| period(&launches(90_000, 1, user_us), 0)),
        [751, 1451]
    );
}
