//! A real Chromium that is driven as a person drives it: windows of a size, a pointer, a keyboard, paper. It is spoken to by
//! the DevTools protocol over two pipes, so that no port is opened.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::place::Place;
use super::skips::skip;

/// Seconds after which a browser that hangs is ended.
const LONGEST_S: &str = "300";

/// A browser with one window.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    calls: u64,
    session: String,
    loaded: bool,
    /// All that was written on the console, thrown or reported since it was opened.
    pub console: Vec<String>,
}

/// The name of a Chromium that runs here.
fn program() -> Option<&'static str> {
    let runs = |name: &&str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|out| out.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(runs)
}

impl Browser {
    /// Starts one; `None`, which is told, where there is none.
    pub fn open(place: &Place) -> Option<Browser> {
        let Some(program) = program() else {
            skip("there is no Chromium here: the page is not opened");
            return None;
        };
        let (to, from) = (place.file("browser.in"), place.file("browser.out"));
        assert!(
            Command::new("mkfifo")
                .args([&to, &from])
                .status()
                .unwrap()
                .success()
        );
        let own = format!("--user-data-dir={}", place.file("browser").display());
        // Chromium refuses its sandbox to root, and a run in a container often is root.
        let script = "in=$1; out=$2; shift 2; exec timeout -k 5 \"$@\" 3<\"$in\" 4>\"$out\"";
        let child = Command::new("sh")
            .args(["-c", script, "sh"])
            .args([&to, &from])
            .args([
                LONGEST_S,
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-pipe",
                &own,
                "about:blank",
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the order in which the shell opens the other ends.
        let to = File::options().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut browser = Browser {
            child,
            to,
            from,
            calls: 0,
            session: String::new(),
            loaded: false,
            console: Vec::new(),
        };
        let target =
            browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"]
                .clone();
        let attached = browser.call(
            "Target.attachToTarget",
            json!({ "targetId": target, "flatten": true }),
        );
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol; what it answers.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let message = self.next();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
        }
    }

    /// The next message; what it says of the console or of loading is noted.
    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from
            .read_until(0, &mut bytes)
            .expect("the browser answers");
        assert_eq!(bytes.pop(), Some(0), "the browser has gone");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        match message["method"].as_str() {
            Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => {
                self.console.push(message["params"].to_string());
            }
            Some("Page.loadEventFired") => self.loaded = true,
            _ => {}
        }
        message
    }

    /// Opens a file and waits until it has been loaded.
    pub fn go(&mut self, path: &Path) {
        self.loaded = false;
        self.call(
            "Page.navigate",
            json!({ "url": format!("file://{}", path.display()) }),
        );
        while !self.loaded {
            self.next();
        }
    }

    /// Gives the window a size in CSS pixels.
    pub fn size(&mut self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Screen or print, light or dark.
    pub fn media(&mut self, media: &str, scheme: &str) {
        let scheme = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "media": media, "features": scheme }),
        );
    }

    /// Allows pages their own scripts, or not.
    pub fn scripts(&mut self, allowed: bool) {
        self.call(
            "Emulation.setScriptExecutionDisabled",
            json!({ "value": !allowed }),
        );
    }

    /// What a function without parameters, written in JavaScript, finds on the page.
    pub fn ask(&mut self, function: &str) -> Value {
        let expression = format!("({function})()");
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// The middle of the first element of a selector, after it was brought into view.
    pub fn middle(&mut self, selector: &str) -> (f64, f64) {
        let selector = json!(selector);
        let place = self.ask(&format!(
            "() => {{ const one = document.querySelector({selector}); one.scrollIntoView({{ block: 'center' }});
             const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }}"
        ));
        (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
    }

    /// Moves the pointer.
    pub fn point(&mut self, (x, y): (f64, f64)) {
        self.call(
            "Input.dispatchMouseEvent",
            json!({ "type": "mouseMoved", "x": x, "y": y }),
        );
    }

    /// Clicks.
    pub fn click(&mut self, (x, y): (f64, f64)) {
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key: `Tab`, `Enter`, `Escape`, ` `.
    pub fn press(&mut self, key: &str) {
        let (code, number, text) = match key {
            "Tab" => ("Tab", 9, ""),
            "Enter" => ("Enter", 13, "\r"),
            "Escape" => ("Escape", 27, ""),
            " " => ("Space", 32, " "),
            other => panic!("no test presses {other}"),
        };
        let event = |kind: &str| json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number });
        let mut down = event(if text.is_empty() {
            "rawKeyDown"
        } else {
            "keyDown"
        });
        if !text.is_empty() {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", event("keyUp"));
    }

    /// A picture of what the window shows, as a PNG.
    pub fn picture(&mut self, path: &Path) {
        let data = self.call("Page.captureScreenshot", json!({ "format": "png" }))["data"].clone();
        let mut decode = Command::new("base64");
        decode
            .arg("-d")
            .stdin(Stdio::piped())
            .stdout(File::create(path).unwrap());
        let mut decode = decode.spawn().unwrap();
        decode
            .stdin
            .take()
            .unwrap()
            .write_all(data.as_str().unwrap().as_bytes())
            .unwrap();
        assert!(decode.wait().unwrap().success());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // To end it by its own word also ends what it has started.
        let close = json!({ "id": 0, "method": "Browser.close" }).to_string() + "\0";
        let _ = self.to.write_all(close.as_bytes());
        let _ = self.child.wait();
    }
}
