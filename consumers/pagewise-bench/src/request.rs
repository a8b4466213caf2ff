//! Reads a request: key=value lines.

use std::collections::BTreeMap;

/// The cells and rounds of a launch.
#[derive(Debug, Default)]
pub(crate) struct Request {
    /// Method and parameters of each cell.
    pub cells: Vec<(String, BTreeMap<String, u64>)>,
    /// Number of each round, negative for warm-ups, with its cells.
    pub rounds: Vec<(i32, Vec<usize>)>,
}

impl Request {
    pub(crate) fn read(text: &str) -> Result<Request, String> {
        let mut request = Request::default();
        for (number, line) in (1..).zip(text.lines()) {
            if !line.is_empty() && !line.starts_with('#') {
                request.take(line).map_err(|error| format!("request line {number}: {error}"))?;
            }
        }
        Ok(request)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let (key, value) = line.split_once('=').ok_or_else(|| format!("{line:?} is not key=value"))?;
        match (key, self.cells.last_mut()) {
            ("cell", _) => self.cells.push(Default::default()),
            ("round" | "warmup", _) => {
                let wrong = || format!("{key}={value} is not NUMBER CELL,CELL,…");
                let (number, order) = value.split_once(' ').ok_or_else(wrong)?;
                let number: i32 = number.parse().map_err(|_| wrong())?;
                let cells: Result<Vec<usize>, _> = order.split(',').map(str::parse).collect();
                let cells = cells.map_err(|_| wrong())?;
                if let Some(unknown) = cells.iter().find(|cell| **cell >= self.cells.len()) {
                    return Err(format!("there is no cell {unknown}"));
                }
                self.rounds.push((if key == "warmup" { -number } else { number }, cells));
            }
            ("method", Some(cell)) => cell.0 = value.to_owned(),
            (_, Some(cell)) => {
                let number = value.parse().map_err(|_| format!("{key}={value} is not a whole number"))?;
                cell.1.insert(key.to_owned(), number);
            }
            _ => {}
        }
        Ok(())
    }
}
