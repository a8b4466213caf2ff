mod settings;

use super::*;

#[test]
fn a_shell_is_used_only_where_it_is_needed() {
    assert_eq!(
        command_words("gzip -1 'a b'").unwrap(),
        ["gzip", "-1", "a b"]
    );
    assert_eq!(command_words("gzip <a").unwrap()[..2], ["/bin/sh", "-c"]);
    assert_eq!(command_words("A=1 true").unwrap()[0], "/bin/sh");
    assert!(command_words("  ").is_err());
}

#[test]
fn without_a_setting_every_word_is_a_command() {
    let arms = arms(&["true".to_owned(), "sh -c :".to_owned()], &[]).unwrap();
    let roles: Vec<ArmRole> = arms.iter().map(|a| a.role).collect();
    assert_eq!(roles, [ArmRole::Baseline, ArmRole::Command, ArmRole::Again]);
    let error = super::arms(&["true".to_owned(), "no-such-file".to_owned()], &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no-such-file") && error.contains("--with"),
        "{error}"
    );
}

#[test]
fn arguments_stand_behind_the_program() {
    let setting = Setting::arguments("-r -n").unwrap();
    let arms = arms(&["sort".to_owned(), "file".to_owned()], &[setting]).unwrap();
    assert_eq!(arms[1].command, ["sort", "-r", "-n", "file"]);
    assert_eq!((arms.len(), arms[2].role), (3, ArmRole::Again));
}
