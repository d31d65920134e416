//! The budgets, all of them in `budgets.txt`.

use crate::path::Path;

const TEXT: &str = include_str!("../budgets.txt");

/// How often one step of a path may allocate or reallocate.
///
/// # Panics
///
/// If `budgets.txt` has no line for it, or one that cannot be read.
pub fn of(path: Path) -> usize {
    let line = TEXT
        .lines()
        .filter(|line| !line.starts_with('#'))
        .find(|line| line.split_whitespace().next() == Some(path.as_str()))
        .unwrap_or_else(|| panic!("budgets.txt has no line for {}", path.as_str()));
    read(line).unwrap_or_else(|| panic!("a line of budgets.txt makes no sense: {line}"))
}

fn read(line: &str) -> Option<usize> {
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_a_budget_and_every_budget_a_path() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        let named: Vec<_> = lines
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let paths: Vec<_> = Path::ALL.iter().map(|path| path.as_str()).collect();
        assert_eq!(named, paths);
        let read: Vec<_> = Path::ALL.into_iter().map(of).collect();
        assert_eq!(read.len(), named.len());
    }
}
