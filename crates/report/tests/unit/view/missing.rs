use super::*;
use record::outcome::Outcome;

fn cell(summary: &Summary, status: Status, cause: Cause) -> CellSummary {
    let pipe = summary
        .cells
        .iter()
        .find(|c| c.method == "pipe" && !c.hidden)
        .expect("the fixture measures pipes");
    CellSummary {
        outcome: Outcome::because(status, cause),
        ..pipe.clone()
    }
}

fn look() -> Summary {
    serde_json::from_str(include_str!("../../fixtures/look.json")).unwrap()
}

#[test]
fn remedies_of_one_kind_are_one() {
    let summary = look();
    let of = |cause: Cause| cell(&summary, Status::Skipped, cause);
    let pool = |least| {
        of(Cause::Setting {
            name: "vm.nr_hugepages".to_owned(),
            least,
            text: None,
        })
    };
    let (few, many, more) = (pool(2), pool(32), pool(4));
    let mut remedy = Remedy::new(&few);
    assert!(remedy.joins(&Remedy::new(&many)) && remedy.joins(&Remedy::new(&more)));
    assert_eq!(remedy.text(), "sysctl vm.nr_hugepages=32");
    let package = |name: &str| {
        of(Cause::NotInstalled {
            package: name.to_owned(),
            library: None,
        })
    };
    let packages = ["b", "a", "b"].map(package);
    let mut install = Remedy::new(&packages[0]);
    assert!(
        packages[1..]
            .iter()
            .all(|other| install.joins(&Remedy::new(other)))
    );
    assert_eq!(install.text(), "install b a");
    assert!(!install.joins(&remedy));
    let memory = |needed_bytes| Cause::Memory {
        needed_bytes,
        available_bytes: 1 << 20,
        limited_by: "RLIMIT_AS".to_owned(),
    };
    let refused = [4 << 20, 8 << 20].map(|bytes| cell(&summary, Status::Refused, memory(bytes)));
    let failed = ["mmap", "munmap"].map(|text| {
        cell(
            &summary,
            Status::Failed,
            Cause::Lacks {
                text: text.to_owned(),
            },
        )
    });
    let mut unknown = Remedy::new(&refused[0]);
    assert!(unknown.joins(&Remedy::new(&refused[1])) && !unknown.joins(&Remedy::new(&failed[0])));
    assert_eq!(
        unknown.text(),
        "needs 8.0 MiB of memory, but only 1.0 MiB are available (RLIMIT_AS)"
    );
    assert!(!Remedy::new(&failed[0]).joins(&Remedy::new(&failed[1])));
}

#[test]
fn a_way_that_has_figures_with_other_parameters_is_not_missing() {
    let mut summary = look();
    let of = |cell| Absent {
        cell,
        names: Vec::new(),
        methods: BTreeSet::from(["pipe"]),
        cells: 1,
    };
    let futex = || Cause::Lacks {
        text: "a futex is there to sleep".to_owned(),
    };
    let skipped = cell(&summary, Status::Skipped, futex());
    let refused = cell(&summary, Status::Refused, futex());
    let pool = Cause::Setting {
        name: "vm.nr_hugepages".to_owned(),
        least: 32,
        text: Some("the pool is empty".to_owned()),
    };
    let helped = cell(&summary, Status::Skipped, pool);
    assert!(!is_missing(&summary, &of(&skipped)));
    assert!(is_missing(&summary, &of(&refused)));
    assert!(is_missing(&summary, &of(&helped)));
    summary.cells.retain(|c| c.method != "pipe");
    assert!(is_missing(&summary, &of(&skipped)));
}
