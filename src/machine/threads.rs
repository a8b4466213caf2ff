//! The one place that starts threads for work. A user who may start no more gets the same work done on the caller's thread.

use std::{num::NonZero, panic::resume_unwind, thread};

/// Threads that read kept runs at most, a bound for machines of many CPUs; more were not measured.
pub(crate) const MOST_READERS: usize = 8;

/// Results for all items, in their order, by as many threads as there are CPUs and `most` at most; each has an equal part.
pub(crate) fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    shared_by(items, cpus.min(most), work)
}

/// Results for all items, in their order, with a thread for each: all at the same time, where that many can be started.
pub(crate) fn all_at_once<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    shared_by(items, items.len(), work)
}

fn shared_by<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let each = items.len().div_ceil(threads.max(1)).max(1);
    if items.len() <= each {
        return items.iter().map(work).collect();
    }
    let work = &work;
    thread::scope(|scope| {
        let mut parts = Vec::new();
        for part in items.chunks(each) {
            let thread = thread::Builder::new()
                .spawn_scoped(scope, move || part.iter().map(work).collect::<Vec<R>>());
            parts.push(thread.map_err(|_| part));
        }
        let results = parts.into_iter().map(|part| match part {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(refused) => refused.iter().map(work).collect(),
        });
        results.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items_by_any_number_of_threads() {
        for count in [0, 1, 2, 7, 64] {
            let items: Vec<usize> = (0..count).collect();
            for threads in 0..9 {
                assert_eq!(
                    shared_by(&items, threads, |n| n * n),
                    items.iter().map(|n| n * n).collect::<Vec<_>>()
                );
            }
            assert_eq!(all_at_once(&items, |n| n + 1).len(), count);
        }
    }
}
