//! Bad requests: a worker must end with exit status 2 and one line that names the key and the line it stands in.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::worker::Worker;
use record::method::Method;
use record::request::{self, LaunchKeys};

/// A bad request, and what the answer must contain.
struct Bad {
    name: &'static str,
    request: String,
    must_say: Vec<String>,
}

fn bad_requests(method: &Method) -> Vec<Bad> {
    let keys = LaunchKeys { experiment: &method.experiment, ..LaunchKeys::default() };
    let good = request::request(&keys, &[], &[], &[]);
    let lines = good.lines().count();
    let line = |n: usize| format!("line {n}");
    vec![
        Bad { name: "an empty request", request: String::new(), must_say: vec!["line 1".into()] },
        Bad {
            name: "another protocol",
            request: "protocol=9\nexperiment=x\n".into(),
            must_say: vec![line(1), "protocol".into()],
        },
        Bad {
            name: "an unknown key",
            request: format!("{good}byts=4096\n"),
            must_say: vec![line(lines + 1), "byts".into()],
        },
        Bad {
            name: "an unknown method",
            request: format!("{good}cell=0\nmethod=nonesuch\nround=0 0\n"),
            must_say: vec![line(lines + 2), "nonesuch".into()],
        },
        Bad {
            name: "an unknown parameter",
            request: format!("{good}cell=0\nmethod={}\nbyts=4096\nround=0 0\n", method.name),
            must_say: vec![line(lines + 3), "byts".into()],
        },
        Bad {
            name: "a malformed number",
            request: format!("{good}cell=0\nmethod={}\nbytes=many\nround=0 0\n", method.name),
            must_say: vec![line(lines + 3), "bytes".into()],
        },
    ]
}

/// Wrong answers of a worker: the name of the bad request, and how.
pub(super) fn check(worker: &Worker) -> Result<Vec<(String, String)>> {
    let Ok(started) = worker.start() else { return Ok(Vec::new()) };
    let Some(method) = worker.methods().iter().find(|m| m.key("bytes").is_some()) else { return Ok(Vec::new()) };
    let mut wrong = Vec::new();
    for bad in bad_requests(method) {
        let mut child = Command::new(&started.command[0])
            .args(&started.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", worker.name))?;
        if let Some(mut input) = child.stdin.take() {
            // A worker may end before it has read everything; that is its right.
            let _ = input.write_all(bad.request.as_bytes());
        }
        let output = child.wait_with_output()?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(2) {
            wrong.push((
                bad.name.to_owned(),
                format!("exit status {:?} instead of 2: {}", output.status.code(), message.trim()),
            ));
        } else if message.lines().count() != 1 || !bad.must_say.iter().all(|part| message.contains(part.as_str())) {
            wrong.push((
                bad.name.to_owned(),
                format!("the answer does not name {}: {}", bad.must_say.join(" and "), message.trim()),
            ));
        }
    }
    Ok(wrong)
}
