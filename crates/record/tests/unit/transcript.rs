use super::*;
use proptest::prelude::*;

const HEAD: &str = "pagewise\t1\tc-O3\nabout\tlibc\tglibc 2.36\ncolumns\tslot\tround\tcell\tphase\tops\tbytes\tstart_ns\
    \twall_ns\tcpu_ns\tuser_ns\tsystem_ns\tminor_faults\tmajor_faults\tvoluntary_switches\tinvoluntary_switches\n";
const SAMPLE: &str = "sample\t0\t-1\t0\tmap\t1\t4096\t5\t6\t7\t0\t0\t1\t0\t0\t0\n";

fn read(text: &str) -> Result<Transcript> {
    Transcript::read(text.as_bytes())
}

#[test]
fn a_whole_transcript_is_read() {
    let t = read(&format!(
        "{HEAD}{SAMPLE}fact\t0\t0\tdigest\tab\nskip\t1\tno pool\ndone\t1\n"
    ))
    .unwrap();
    assert!(t.done);
    assert_eq!(
        (
            t.worker.as_str(),
            t.samples[0].round,
            t.samples[0].counts.wall_ns
        ),
        ("c-O3", -1, 6)
    );
    assert_eq!(t.facts[&0], [("digest".to_owned(), "ab".to_owned())]);
    assert_eq!(
        t.endings,
        [SideEnding::Skip {
            cell: 1,
            reason: "no pool".into()
        }]
    );
    assert_eq!(
        t.endings[0].cause(),
        Cause::Lacks {
            text: "no pool".into()
        }
    );
}

#[test]
fn a_skip_names_the_setting_that_it_lacks() {
    let skip = |reason: &str| SideEnding::Skip {
        cell: 0,
        reason: reason.to_owned(),
    };
    let text = "fewer than 32 free pages: sudo sysctl vm.nr_hugepages=32".to_owned();
    assert_eq!(
        skip(&text).cause(),
        Cause::Setting {
            name: "vm.nr_hugepages".to_owned(),
            least: 32,
            text: Some(text.clone())
        }
    );
    for reason in [
        "the group may not: sudo sysctl vm.hugetlb_shm_group=GID",
        "sysctl vm.nr_hugepages=32",
    ] {
        assert_eq!(
            skip(reason).cause(),
            Cause::Lacks {
                text: reason.to_owned()
            }
        );
    }
}

#[test]
fn lies_and_garbage_are_errors_with_a_line_number() {
    for (text, part) in [
        (format!("{HEAD}{SAMPLE}done\t2\n"), "says it took 2 samples"),
        (
            format!("{HEAD}done\t0\nabout\ta\tb\n"),
            "after the closing line",
        ),
        (format!("{HEAD}sample\t0\n"), "1 fields where 15 columns"),
        ("hello\n".to_owned(), "begins with"),
        ("pagewise\t2\tx\n".to_owned(), "version 1"),
        (format!("{HEAD}nonsense\t0\n"), "no line of the protocol"),
    ] {
        let error = format!("{:#}", read(&text).unwrap_err());
        assert!(
            error.contains(part) && error.starts_with("transcript line"),
            "{error}"
        );
    }
}

#[test]
fn every_column_is_found_by_its_name() {
    let all: [u64; COLUMNS.len()] = std::array::from_fn(|i| 7 + i as u64);
    let counts = Counts::from_array(all);
    assert_eq!(COLUMNS.map(|name| counts.column(name).unwrap()), all);
    assert_eq!(counts.column("ghosts"), None);
}

#[test]
fn what_is_no_count_is_an_error() {
    for wrong in ["", "+1", "-1", "1 ", "0x1", "18446744073709551616"] {
        let text = format!("{HEAD}{}", SAMPLE.replace("4096", wrong));
        assert!(
            format!("{:#}", read(&text).unwrap_err())
                .contains(&format!("{wrong:?} is not a count")),
            "{wrong:?}"
        );
    }
    assert_eq!(
        read(&format!(
            "{HEAD}{}",
            SAMPLE.replace("4096", &u64::MAX.to_string())
        ))
        .unwrap()
        .samples
        .len(),
        1
    );
}

proptest! {
    /// The usual way is only a shorter one.
    #[test]
    fn a_line_is_read_the_usual_way_as_by_its_words(
        numbers in proptest::collection::vec(any::<u64>().prop_map(|n| n >> (n % 64)), 15),
        round in any::<i32>(),
        further in 0..3_usize,
        damage in proptest::option::of((0..200_usize, any::<u8>())),
    ) {
        let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let mut line = format!("sample\t{}\t{round}\t{}\tmap\t", numbers[13] >> 33, numbers[14] >> 33);
        line += &words[..COLUMNS.len() + further].join("\t");
        let mut line = (line + "\n").into_bytes();
        if let Some((at, byte)) = damage {
            let at = at % line.len();
            line[at] = byte;
        }
        let columns = 4 + COLUMNS.len() + further;
        let mut usual = Transcript { phases: vec!["m".to_owned(), "map".to_owned()], ..Transcript::default() };
        let mut worded = usual.clone();
        if let Some(length) = usual.usual(&line, columns) {
            let text = std::str::from_utf8(&line[..length]).unwrap();
            worded.take(text.strip_suffix('\n').unwrap(), 9, &mut columns.clone()).unwrap();
            prop_assert_eq!(&usual.samples, &worded.samples);
            prop_assert_eq!(&usual.phases, &worded.phases);
        } else {
            let odd = damage.is_some() || round == i32::MIN || numbers.iter().any(|n| *n > 1 << 60);
            prop_assert!(usual.samples.is_empty() && odd);
        }
    }
}

#[test]
fn a_truncated_transcript_is_read_but_not_done() {
    assert!(!read(&format!("{HEAD}{SAMPLE}")).unwrap().done);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.extend(tail);
        let _ = Transcript::read(bytes.as_slice());
    }
}
