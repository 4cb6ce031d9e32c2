//! How much memory this process has needed, and how much more it may take.

use std::fs;
use std::path::Path;

/// The largest resident size so far, in bytes; `None` where the system does not tell.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// How many bytes this process may still take; `None` where the system does not tell.
///
/// That is the least of what the machine and the control groups of the process have left.
pub(crate) fn available_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| field(&text, "MemAvailable:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = groups
        .lines()
        .filter_map(|line| group(line)?.left(Path::new("/sys/fs/cgroup")));
    groups.chain(machine).min()
}

/// The value of a field such as `MemAvailable:  12 kB`, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A control group that may limit memory, and the names of the files that say so.
#[derive(Debug, PartialEq, Eq)]
struct Group<'a> {
    /// The folder of the hierarchy.
    hierarchy: &'static str,
    path: &'a str,
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat` with the page cache that is dropped first.
    reclaimable: &'static str,
}

/// Reads a line of `/proc/self/cgroup`; `None` for a group that has nothing to do with memory.
fn group(line: &str) -> Option<Group<'_>> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    if controllers.is_empty() {
        return Some(Group {
            hierarchy: "",
            path,
            limit: "memory.max",
            usage: "memory.current",
            reclaimable: "inactive_file ",
        });
    }
    controllers
        .split(',')
        .any(|controller| controller == "memory")
        .then_some(Group {
            hierarchy: "memory",
            path,
            limit: "memory.limit_in_bytes",
            usage: "memory.usage_in_bytes",
            reclaimable: "total_inactive_file ",
        })
}

impl Group<'_> {
    /// The least that this group and the groups around it have left, below `root`.
    ///
    /// Within a container the path may be that of the host, whose folders are not there; the limit
    /// is then in the outermost folder.
    fn left(&self, root: &Path) -> Option<u64> {
        let mut folder = root.join(self.hierarchy);
        let mut least = self.left_in(&folder);
        let names = self.path.split('/');
        for name in names.filter(|name| !matches!(*name, "" | "." | "..")) {
            folder.push(name);
            least = least.into_iter().chain(self.left_in(&folder)).min();
        }
        least
    }

    fn left_in(&self, folder: &Path) -> Option<u64> {
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        let number = |text: String| text.trim().parse::<u64>().ok();
        // `max` is no number, and no limit.
        let limit = read(self.limit).and_then(number)?;
        let usage = read(self.usage).and_then(number)?;
        let stat = read("memory.stat").unwrap_or_default();
        let mut lines = stat.lines();
        let cache = lines.find_map(|line| line.strip_prefix(self.reclaimable)?.parse().ok());
        Some(limit.saturating_sub(usage.saturating_sub(cache.unwrap_or(0))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_in_bytes() {
        let status = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t    12 kB\nVmRSS:\t 8 kB\n";
        assert_eq!(field(status, "VmHWM:"), Some(12 * 1024));
        assert_eq!(field("Name:\tx\n", "VmHWM:"), None);
        let info = "MemTotal:       24684084 kB\nMemAvailable:   22000000 kB\n";
        assert_eq!(field(info, "MemAvailable:"), Some(22_528_000_000));
    }

    #[test]
    fn groups_of_both_versions_are_found() {
        let second = group("0::/a/b").expect("version 2");
        assert_eq!((second.path, second.limit), ("/a/b", "memory.max"));
        let first = group("4:cpu,memory:/a").expect("version 1");
        assert_eq!((first.path, first.limit), ("/a", "memory.limit_in_bytes"));
        for other in ["3:cpuset:/", "1:name=systemd:/", "", "0"] {
            assert_eq!(group(other), None, "{other:?}");
        }
    }

    #[test]
    fn the_tightest_group_counts_and_cache_is_no_usage() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |folder: &str, limit: &str, usage: &str| {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).expect("writable");
            fs::write(folder.join("memory.max"), limit).expect("writable");
            fs::write(folder.join("memory.current"), usage).expect("writable");
            let stat = "anon 1\ninactive_file 30\n";
            fs::write(folder.join("memory.stat"), stat).expect("writable");
        };
        write("a", "1000\n", "900\n");
        write("a/b", "max\n", "500\n");
        let left = |path: &str| group(&format!("0::{path}"))?.left(root.path());
        assert_eq!(left("/a/b"), Some(130));
        assert_eq!(left("/a/b/none"), Some(130));
        assert_eq!(left("/"), None);
        // A container sees its own group as the outermost one, whatever its path.
        write("", "100\n", "200\n");
        assert_eq!(left("/of/the/host"), Some(0));
    }
}
