//! The first page of help: the verbs in four groups. A test compares it with the verbs.

/// clap's template for `pagewise --help`.
pub(super) const TEMPLATE: &str = "\
{about}

{usage-heading} {usage}

Measure:
  run      Measure experiments. Without a name: an overview of every experiment
  bench    Measure your own C functions, or those of a shared library
  advise   Say which method to use here, what it gains, and from which size on
  claims   Test other people's claims about the cost of memory
  try      Try settings, or other commands, on your own program
  profile  Show what page faults, reads and copies cost your own program

Understand:
  list     List experiments, or the methods and parameters of one
  show     Explain an experiment, or print the source of a method
  doctor   Describe this machine, what cannot be measured here, and why

Keep and compare:
  runs     List kept runs, show, tag and remove them
  report   Print a kept run again, or write it for other programs
  compare  Compare two runs, or two sets of runs
  fleet    Compare the runs of many machines, and name the odd ones

Doubt:
  check    Prove that methods do what they say; --selftest proves the judging

Options:
{options}

pagewise help VERB says more of a verb. For packages: completions SHELL, man.
";
