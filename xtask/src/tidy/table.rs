//! Rows of tables in documents, and the tests that they name.

use super::TextFile;

/// The cells of a row, trimmed.
pub(super) fn columns(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split('|').map(str::trim)
}

/// The parts of a cell between backticks.
pub(super) fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// Why a name of a file, or of a function in one, does not exist. Other names are not checked.
pub(super) fn absent(files: &[TextFile], name: &str) -> Option<String> {
    let (path, function) = match name.split_once("::") {
        Some((path, function)) if path.ends_with(".rs") => (path, Some(function)),
        _ if name.ends_with(".rs") => (name, None),
        _ => return None,
    };
    let path = format!("crates/{path}");
    let Some(file) = files.iter().find(|file| file.path == path) else {
        return Some(format!("names {path}, which is not there"));
    };
    let function = function?;
    let is_there = file.text.contains(&format!("fn {function}("));
    (!is_there).then(|| format!("names `{function}`, which is not in {path}"))
}
