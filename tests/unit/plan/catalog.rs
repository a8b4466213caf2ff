use super::*;

#[test]
fn every_carried_experiment_is_sound() {
    for experiment in experiments(None).unwrap() {
        assert!(
            !experiment.question.trim().is_empty() && !experiment.phases.is_empty(),
            "{}",
            experiment.name
        );
        assert!(
            experiment.measures().any(|m| m == experiment.headline()),
            "{}",
            experiment.name
        );
        assert!(
            experiment.totals.iter().filter(|t| t.headline).count() <= 1,
            "{}",
            experiment.name
        );
    }
}

#[test]
fn titles_are_those_of_the_experiments_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (_, carried) = carried::EXPERIMENTS[0];
    let own = carried.replacen("title = \"", "title = \"one's own: ", 1);
    std::fs::write(folder.path().join("own.toml"), own).unwrap();
    for folder in [None, Some(folder.path())] {
        let whole: Vec<Title> = experiments(folder)
            .unwrap()
            .iter()
            .map(Experiment::titled)
            .collect();
        assert_eq!(titles(folder).unwrap(), whole);
        assert_eq!(
            whole.iter().any(|t| t.title.starts_with("one's own: ")),
            folder.is_some()
        );
    }
}

#[test]
fn an_unknown_experiment_is_answered_with_the_nearest() {
    let all = experiments(None).unwrap();
    let error = find(&all, "falt").unwrap_err().to_string();
    assert!(error.contains("did you mean \"fault\"?"), "{error}");
}
