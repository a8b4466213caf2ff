//! Requests that every worker refuses, of whatever language, and each with the same sentence.

/// They name `fault/null`, and `fault/touch` once.
pub fn wrong() -> Vec<String> {
    let start = "protocol=1\nexperiment=fault\nseed=1\n";
    let cell = "cell=0\nmethod=null\nbytes=4096\n";
    vec![
        String::new(),
        "experiment=fault\n".to_owned(),
        "protocol=2\n".to_owned(),
        "protocol=1\ncell=0\n".to_owned(),
        "protocol=1\nseed=abc\n".to_owned(),
        "protocol=1\ntrace_marks=maybe\n".to_owned(),
        "protocol=1\nrole=c\n".to_owned(),
        "# words\n\nprotocol=1\n=x\n".to_owned(),
        format!("{start}byts=4\n"),
        format!("{start}hello\n"),
        start.to_owned(),
        format!("{start}cell=1\n"),
        format!("{start}cell=0\nround=0 0\n"),
        format!("{start}cell=0\nbytes=4096\n"),
        format!("{start}cell=0\nmethod=tuch\n"),
        format!("{start}cell=0\nmethod=null\nmethod=null\n"),
        format!("{start}cell=0\nmethod=null\nround=0 0\n"),
        format!("{start}cell=0\nmethod=null\nbyts=4096\n"),
        format!("{start}cell=0\nmethod=null\nbytes=0\n"),
        format!("{start}cell=0\nmethod=null\nbytes=-1\n"),
        format!("{start}cell=0\nmethod=null\nbytes=12k\n"),
        format!("{start}cell=0\nmethod=null\nbytes=99999999999999999999\n"),
        format!("{start}cell=0\nmethod=touch\nrelease=never\n"),
        format!("{start}{cell}bytes=4096\n"),
        format!("{start}{cell}"),
        format!("{start}{cell}round=0\n"),
        format!("{start}{cell}round=x 0\n"),
        format!("{start}{cell}round=0 1\n"),
        format!("{start}{cell}round=0 ,\n"),
        format!("{start}{cell}warmup=0 0\n"),
        format!("{start}{cell}round=0 0\nbytes=4096\n"),
    ]
}
