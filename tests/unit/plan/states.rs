use record::experiment::ParameterList;

use super::*;
use crate::plan::catalog;

#[test]
fn every_carried_state_is_sound() {
    let experiments = catalog::experiments(None).expect("experiments");
    for state in STATES.iter() {
        for name in state.experiments.iter().chain(state.bound.keys()) {
            assert!(
                experiments.iter().any(|e| e.name == *name),
                "{}: {name} is no experiment",
                state.name
            );
        }
        assert!(
            !state.when.ends_with('.') && !state.title.ends_with('.'),
            "{}",
            state.name
        );
        assert_eq!(
            state.bound.is_empty(),
            state.only_reason.is_empty(),
            "{}",
            state.name
        );
    }
    let names: Vec<&str> = STATES.iter().map(|state| state.name.as_str()).collect();
    let mut unique = names.clone();
    unique.dedup();
    assert_eq!(names, unique);
}

#[test]
fn a_state_that_there_is_not_is_named_with_the_nearest() {
    let wish = Wish {
        settings: vec![(
            STATE.to_owned(),
            vec!["plain".to_owned(), "swap-zramm".to_owned()],
        )],
        cpus: 2,
        page_bytes: 4096,
        ..Wish::new(Vec::new(), ParameterList::Default)
    };
    let fault = catalog::experiments(None)
        .expect("experiments")
        .into_iter()
        .find(|e| e.name == "fault")
        .expect("fault");
    let fault = with_states(&fault);
    let error = wished(&fault, &wish)
        .expect_err("no such state")
        .to_string();
    assert!(error.contains("swap-zram\""), "{error}");
    let every = Wish {
        settings: vec![(STATE.to_owned(), vec!["all".to_owned()])],
        ..wish
    };
    let values = wished(&fault, &every).expect("states").expect("some");
    assert_eq!(values[0], PLAIN);
    assert!(values.iter().any(|value| value == "fragmented-movable"));
    assert!(
        !values.iter().any(|value| value == "writeback"),
        "{values:?}"
    );
}
