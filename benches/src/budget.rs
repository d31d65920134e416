//! The budgets, all of them in `budgets.txt`.

use crate::path::Path;

const TEXT: &str = include_str!("../budgets.txt");

/// Limits of one step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Allocations and reallocations.
    pub allocations: usize,
    /// Instructions in user space, in a release build; `None` if they have no budget.
    pub instructions: Option<u64>,
}

/// The budget of a path.
///
/// # Panics
///
/// If `budgets.txt` has no line for it, or one that cannot be read.
pub fn of(path: Path) -> Budget {
    let line = TEXT
        .lines()
        .filter(|line| !line.starts_with('#'))
        .find(|line| line.split_whitespace().next() == Some(path.as_str()))
        .unwrap_or_else(|| panic!("budgets.txt has no line for {}", path.as_str()));
    read(line).unwrap_or_else(|| panic!("a line of budgets.txt makes no sense: {line}"))
}

fn read(line: &str) -> Option<Budget> {
    let mut words = line.split_whitespace().skip(1);
    let number = |word: &str| word.replace('_', "").parse::<u64>().ok();
    let allocations = number(words.next()?)?;
    let instructions = match words.next()? {
        "-" => None,
        word => Some(number(word)?),
    };
    Some(Budget {
        allocations: usize::try_from(allocations).ok()?,
        instructions,
    })
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
        for path in Path::ALL {
            assert_ne!(of(path).instructions, Some(0), "{}", path.as_str());
        }
    }
}
