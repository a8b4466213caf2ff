//! The first page of help: the verbs in two groups, which a test compares with the verbs; and what to type first.

use crate::worker::functions;
use std::path::Path;

/// clap's template for `pagewise --help`.
pub(super) const TEMPLATE: &str = "\
{about}

{usage-heading} {usage}

Measure:
  run      Measure experiments. Without a name: an overview of every experiment
  advise   Say which method to use here, what it gains, and from which size on
  bench    Measure your own C functions, or those of a shared library
  try      Try settings, or other commands, on your own program
  profile  Show what page faults, reads and copies cost your own program
  claims   Test other people's claims about the cost of memory

And:
  list     List experiments, or the methods and parameters of one
  show     Explain an experiment, or print the source of a method
  report   Print a kept run again, or write it for other programs
  runs     List kept runs, show, tag and remove them
  compare  Compare two runs, or two sets of runs
  share    Write one file of a run for other people, which names nobody
  gallery  Make a site of shared runs that compares machines
  doctor   Describe this machine, what cannot be measured here, and why
  check    Prove that methods do what they say; --selftest proves the judging

Options:
{options}

pagewise help VERB says more of a verb. For packages: completions SHELL, man.
";

/// Answer to `pagewise` without a word: its purpose, and five commands with their seconds on an ordinary machine.
pub const FIRST: &str = "\
Pagewise measures on this machine what memory costs, proves how, and says which way to use.
  pagewise run fault                          page faults, huge pages, populating      3 s
  pagewise run                                an overview of every experiment       1 min
  pagewise bench --new mine.c                 then bench mine.c: your own code         3 s
  pagewise profile -- ./my-program            what memory costs your own program      10 s
  pagewise try --with thp -- ./my-program     whether a setting helps it              10 s
";

/// Answers to a file's path in place of a verb: the command that measures or shows it.
pub fn on_file(path: &str) -> String {
    let file = Path::new(path);
    let may_run = rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    if file.is_dir() {
        format!("{path} is a folder: pagewise report {path} shows a run that is kept there")
    } else if functions::may_hold(file) {
        format!("{path} is a file: pagewise bench {path} measures its functions")
    } else if may_run {
        format!("{path} is a program: pagewise profile -- {path} measures it")
    } else {
        format!("{path} is a file: pagewise advise read --file {path} says how to read it")
    }
}
