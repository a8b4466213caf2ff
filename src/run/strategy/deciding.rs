//! Launches what settles most questions in its time. Every comparison has its least launches; from then on those that have
//! no word yet go on from look to look, the cheapest to settle first. What is launched depends on where figures lie, so each
//! look has its price in the words (`stats::looks`).

use stats::looks::next_look;

/// How many times too high the estimate of the launches that a question needs may be, as of `stats::stopping`.
const DOUBT: f64 = 4.0;
/// What is no word on a claim by itself waits until what is has become this many times dearer.
const BESIDE: f64 = 4.0;
/// What seems to lie on an edge waits until what does not has become this many times dearer.
const UNLIKELY: f64 = 8.0;

/// Cells that are launched together, as far as they have come.
#[derive(Clone, Copy, Debug)]
pub struct Launched {
    /// How often they were launched.
    pub launches: usize,
    /// What a launch of those that still have a question should take, in seconds.
    pub step_s: f64,
    /// Whether they may be launched again.
    pub open: bool,
}

/// A question that has no word.
#[derive(Clone, Debug)]
pub struct Question {
    /// The clusters that its cells are in.
    pub clusters: Vec<usize>,
    /// The launches after which it should have one.
    pub launches: usize,
    /// Whether a claim's own word hangs on it.
    pub decides: bool,
    /// Whether those launches should bring its word; otherwise they are its next look.
    pub likely: bool,
}

/// What is launched until the next look, each cluster with the launches that it then has; nothing where no question can be
/// settled in the time that is left. A turn ends after about `turn_s` seconds.
pub fn turn(clusters: &[Launched], questions: &[Question], left_s: f64, turn_s: f64) -> Vec<(usize, usize)> {
    let mut targets: Vec<(usize, usize)> = Vec::new();
    let mut rest: Vec<&Question> = questions.iter().filter(|q| q.clusters.iter().all(|&c| clusters[c].open)).collect();
    let mut planned_s = 0.0;
    while planned_s < turn_s {
        let lacking_s = |cluster: usize, until: usize| {
            let have = targets.iter().find(|(c, _)| *c == cluster).map_or(clusters[cluster].launches, |(_, at)| *at);
            until.saturating_sub(have) as f64 * clusters[cluster].step_s
        };
        let cost_s = |q: &Question| q.clusters.iter().map(|&c| lacking_s(c, q.launches)).sum::<f64>();
        let weight =
            |q: &Question| cost_s(q) * if q.decides { 1.0 } else { BESIDE } * if q.likely { 1.0 } else { UNLIKELY };
        let affordable = (0..rest.len()).filter(|&i| cost_s(rest[i]) <= (left_s - planned_s) * DOUBT);
        let Some(cheapest) = affordable.min_by(|&a, &b| weight(rest[a]).total_cmp(&weight(rest[b]))) else { break };
        let question = rest.remove(cheapest);
        // Its clusters come to the same look, so that their launches take turns.
        let have = question.clusters.iter().map(|&c| clusters[c].launches).min().unwrap_or(0);
        let until = next_look(have).min(question.launches.max(have + 1));
        let next_s: f64 = question.clusters.iter().map(|&c| lacking_s(c, until)).sum();
        if next_s > left_s - planned_s {
            continue;
        }
        planned_s += next_s;
        for &cluster in &question.clusters {
            match targets.iter_mut().find(|(c, _)| *c == cluster) {
                Some((_, at)) => *at = (*at).max(until),
                None => targets.push((cluster, until)),
            }
        }
    }
    targets.retain(|(cluster, until)| *until > clusters[*cluster].launches);
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launched(launches: usize, step_s: f64) -> Launched {
        Launched { launches, step_s, open: true }
    }

    fn question(clusters: &[usize], launches: usize) -> Question {
        Question { clusters: clusters.to_vec(), launches, decides: true, likely: true }
    }

    #[test]
    fn the_cheapest_question_goes_first_and_only_to_its_next_look() {
        let clusters = [launched(6, 1.0), launched(6, 0.1)];
        let questions = [question(&[0], 14), question(&[1], 21)];
        assert_eq!(turn(&clusters, &questions, 100.0, 0.1), [(1, 9)]);
        assert_eq!(turn(&clusters, &questions, 100.0, 5.0), [(1, 9), (0, 9)]);
    }

    #[test]
    fn what_cannot_be_settled_in_the_time_left_is_not_begun() {
        let clusters = [launched(6, 10.0)];
        assert!(turn(&clusters, &[question(&[0], 48)], 60.0, 5.0).is_empty());
        assert!(turn(&clusters, &[question(&[0], 9)], 20.0, 5.0).is_empty(), "a look that does not fit");
        assert!(turn(&clusters, &[], 60.0, 5.0).is_empty());
        let closed = [Launched { open: false, ..clusters[0] }];
        assert!(turn(&closed, &[question(&[0], 9)], 600.0, 5.0).is_empty());
    }

    #[test]
    fn a_question_of_two_clusters_brings_both_to_the_same_look() {
        let clusters = [launched(6, 0.1), launched(9, 0.1)];
        assert_eq!(turn(&clusters, &[question(&[0, 1], 14)], 100.0, 0.1), [(0, 9)]);
        let clusters = [launched(9, 0.1), launched(9, 0.1)];
        assert_eq!(turn(&clusters, &[question(&[0, 1], 14)], 100.0, 0.1), [(0, 14), (1, 14)]);
    }

    #[test]
    fn what_seems_to_lie_on_an_edge_waits_and_is_not_given_up() {
        let clusters = [launched(6, 1.0), launched(6, 2.0)];
        let edge = Question { likely: false, ..question(&[0], 9) };
        assert_eq!(turn(&clusters, &[edge.clone(), question(&[1], 9)], 100.0, 1.0), [(1, 9)]);
        assert_eq!(turn(&clusters, &[edge], 100.0, 1.0), [(0, 9)]);
    }

    #[test]
    fn what_stands_beside_waits() {
        let clusters = [launched(6, 1.0), launched(6, 2.0)];
        let questions = [Question { decides: false, ..question(&[0], 9) }, question(&[1], 9)];
        assert_eq!(turn(&clusters, &questions, 100.0, 1.0), [(1, 9)]);
    }
}
