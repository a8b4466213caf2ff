//! Pages of a gallery whose texts were made to act: nothing of them is markup, an order, or another place.

use pagewise_report::gallery::{
    Labels, front, front_badge, front_picture, machine_badge, machine_page, question_page,
};
use record::gallery::{
    FrontPicture, GALLERY_SCHEMA, Gallery, GalleryCell, GalleryMachine, GalleryQuestion,
};
use record::outcome::Status;
use record::parameters::Parameters;
use record::shared::{
    AnswerWord, SHARED_SCHEMA, SharedAnswer, SharedControls, SharedMachine, SharedMethod,
    SharedQuestion, SharedRatio, SharedRun, SharedVerdict,
};
use record::summary::Role;
use std::collections::BTreeMap;

/// Texts that act where they are not escaped. `SharedRun::open` refuses them all; the pages do not rely on it.
const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "' onmouseover='alert(1)",
    "\u{202e}gnp.exe\u{0}",
    "{{ 7 * 7 }}<!--",
];

fn run(text: &str) -> SharedRun {
    let ratio = SharedRatio {
        ratio: 0.5,
        low: 0.4,
        high: 0.6,
        launches: 9,
    };
    let method = |name: String, ratio, verdict| SharedMethod {
        method: name,
        worker: text.to_owned(),
        role: Role::Method,
        ranked: true,
        options: Parameters::default(),
        status: Status::Ok,
        laws_checked: 1,
        laws_broken: 0,
        per_unit_ns: Some(1.0),
        launches_ns: vec![1.0],
        ratio,
        verdict,
    };
    SharedRun {
        schema: SHARED_SCHEMA,
        version: text.to_owned(),
        day: text.to_owned(),
        machine: SharedMachine {
            cpu: text.to_owned(),
            kernel: text.to_owned(),
            hypervisor: Some(text.to_owned()),
            is_virtual: Some(true),
            governor: Some(text.to_owned()),
            cpus: [2, 2],
            ..SharedMachine::default()
        },
        overview: true,
        elapsed_s: 1.0,
        margin: 0.02,
        controls: SharedControls {
            checks: 1,
            spread: None,
            widened: 1.0,
        },
        questions: vec![SharedQuestion {
            experiment: text.to_owned(),
            parameters: [(text, text)].into(),
            phase: text.to_owned(),
            unit: text.to_owned(),
            baseline: Some(1),
            control: None,
            answer: SharedAnswer {
                word: AnswerWord::Use,
                method: Some(0),
            },
            methods: vec![
                method(format!("{text}-fast"), Some(ratio), SharedVerdict::Faster),
                method(text.to_owned(), None, SharedVerdict::Open),
            ],
        }],
    }
}

fn gallery(run: &SharedRun) -> Gallery {
    let question = &run.questions[0];
    Gallery {
        schema: GALLERY_SCHEMA,
        machines: vec![GalleryMachine {
            id: run.machine.cpu.clone(),
            file: run.machine.cpu.clone(),
            day: run.day.clone(),
            overview: run.overview,
            version: run.version.clone(),
            machine: run.machine.clone(),
        }],
        usual_values: BTreeMap::new(),
        questions: vec![GalleryQuestion {
            id: question.experiment.clone(),
            experiment: question.experiment.clone(),
            parameters: question.parameters.clone(),
            method: question.methods[0].method.clone(),
            usual: question.methods[1].method.clone(),
            cells: vec![question.methods[0].ratio.map(|ratio| GalleryCell {
                ratio,
                verdict: SharedVerdict::Faster,
                answer: AnswerWord::Use,
                choice: Some(question.methods[0].method.clone()),
            })],
        }],
        refused: Vec::new(),
    }
}

fn picture(text: &str) -> FrontPicture {
    FrontPicture {
        title: text.to_owned(),
        experiment: text.to_owned(),
        method: format!("{text}-fast"),
        across: text.to_owned(),
        fixed: BTreeMap::new(),
    }
}

#[test]
fn hostile_texts_are_inert_in_every_page() {
    for text in HOSTILE {
        let run = run(text);
        let gallery = gallery(&run);
        let labels = Labels::new(&gallery, &[]);
        let runs = [&run];
        let pages = [
            front(&labels, &runs, &picture(text)),
            machine_page(&labels, 0, &run),
            question_page(&labels, &gallery.questions[0], &runs),
            front_picture(&labels, &runs, &picture(text)).unwrap(),
            front_badge(&gallery),
            machine_badge(&gallery, 0),
        ];
        for page in pages {
            // The page's own script is the only one, and its data ends no element.
            let scripts = page.matches("<script").count();
            assert!(
                scripts <= 2 && scripts == page.matches("</script>").count(),
                "{text:?}"
            );
            // Data is JSON in an element of its own, where quotes are quotes.
            let page = page.split("<script type=").next().unwrap_or_default();
            for orders in [
                "<img src=x",
                "alert(1)</script>",
                "' onmouseover='",
                "49<!--",
                "\u{202e}",
                "\u{0}",
            ] {
                assert!(!page.contains(orders), "{text:?}: {orders:?}");
            }
            for link in page.split("href=\"").skip(1) {
                assert!(!link.starts_with("javascript:"), "{text:?}");
            }
        }
    }
}

#[test]
fn a_page_says_ratio_interval_and_word_without_a_script() {
    let run = run("plain");
    let gallery = gallery(&run);
    let labels = Labels::new(&gallery, &[]);
    let page = front(&labels, &[&run], &picture("plain"));
    let cell = "<td class=\"heat h-3\"><a href=\"question/plain.html#plain\"><b>0.500</b><span>0.400–0.600</span><i>faster</i></a></td>";
    assert!(
        page.contains(cell),
        "{}",
        page.split("<table").nth(1).unwrap_or_default()
    );
    assert!(page.contains("1 machine") && page.contains("class=\"dot faster\""));
    assert!(page.len() < 80_000, "{}", page.len());
}
