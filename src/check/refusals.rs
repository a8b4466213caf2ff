//! Bad requests: a worker must end with exit status 2 and one line that names the key and the line it stands in.

use crate::worker::{Worker, programs};
use anyhow::{Context, Result};
use record::sizes::BYTES;
use record::{method::Method, transcript, transcript::LaunchKeys};
use std::io::{Seek, Write};
use std::process::Command;

/// Bad requests: a name, the lines behind the keys of a good one (`METHOD` is a method of the worker), and the line and the
/// word that the answer must name, counted from there.
const BEHIND_GOOD_KEYS: [(&str, &str, usize, &str); 4] = [
    ("an unknown key", "byts=4096\n", 1, "byts"),
    (
        "an unknown method",
        "cell=0\nmethod=nonesuch\nround=0 0\n",
        2,
        "nonesuch",
    ),
    (
        "an unknown parameter",
        "cell=0\nmethod=METHOD\nbyts=4096\nround=0 0\n",
        3,
        "byts",
    ),
    (
        "a malformed number",
        "cell=0\nmethod=METHOD\nbytes=many\nround=0 0\n",
        3,
        BYTES,
    ),
];

/// Each bad request: its name, its text, and what the answer must contain.
fn bad_requests(method: &Method) -> Vec<(&'static str, String, [String; 2])> {
    let keys = LaunchKeys {
        experiment: &method.experiment,
        ..LaunchKeys::default()
    };
    let good = transcript::request(&keys, &[], &[], &[]);
    let lines = good.lines().count();
    let behind = BEHIND_GOOD_KEYS.map(|(name, further, line, word)| {
        let text = good.clone() + &further.replace("METHOD", &method.name);
        (
            name,
            text,
            [format!("line {}", lines + line), word.to_owned()],
        )
    });
    let first = |word: &str| ["line 1".to_owned(), word.to_owned()];
    let whole = [
        ("an empty request", String::new(), first("")),
        (
            "another protocol",
            "protocol=9\nexperiment=x\n".to_owned(),
            first("protocol"),
        ),
    ];
    whole.into_iter().chain(behind).collect()
}

/// Wrong answers of a worker: the name of the bad request, and how.
pub(super) fn check(worker: &Worker) -> Result<Vec<(String, String)>> {
    let Ok(started) = worker.start() else {
        return Ok(Vec::new());
    };
    let Some(method) = worker.methods().iter().find(|m| m.key(BYTES).is_some()) else {
        return Ok(Vec::new());
    };
    let mut wrong = Vec::new();
    for (name, request, must_say) in bad_requests(method) {
        let mut input = files::empty_memory_file("pagewise-request")?;
        input.write_all(request.as_bytes())?;
        input.rewind()?;
        let mut command = Command::new(&started.command[0]);
        let output = programs::answer(command.args(&started.command[1..]), input.into())
            .with_context(|| format!("cannot check {}", worker.name))?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let (code, answer) = (output.status.code(), message.trim());
        if code != Some(2) {
            wrong.push((
                name.to_owned(),
                format!("exit status {code:?} instead of 2: {answer}"),
            ));
        } else if message.lines().count() != 1
            || !must_say.iter().all(|part| message.contains(part))
        {
            wrong.push((
                name.to_owned(),
                format!(
                    "the answer does not name {}: {answer}",
                    must_say.join(" and ")
                ),
            ));
        }
    }
    Ok(wrong)
}
