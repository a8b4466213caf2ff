use super::*;

#[test]
fn every_carried_setting_is_sound() {
    let all = all().unwrap();
    assert!(all.len() >= 9);
    for ((path, _), setting) in carried::SETTINGS.iter().zip(
        carried::SETTINGS
            .iter()
            .map(|(p, t)| Setting::parse(p, t).unwrap()),
    ) {
        assert_eq!(*path, format!("settings/{}.toml", setting.name));
        assert!(!setting.title.is_empty());
    }
}

#[test]
fn words_name_settings() {
    let of = |words: &[&str]| of_words(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
    let names = |words: &[&str]| {
        of(words)
            .unwrap()
            .into_iter()
            .map(|s| s.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["thp,keep", "env:A=1,2"]),
        ["thp", "keep", "env:A=1,2"]
    );
    assert!(
        of(&["jemaloc"])
            .unwrap_err()
            .to_string()
            .contains("did you mean \"jemalloc\"")
    );
    assert!(
        of(&["thp", "thp"])
            .unwrap_err()
            .to_string()
            .contains("twice")
    );
}
