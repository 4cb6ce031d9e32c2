//! The graph of files: which files depend on each other, and a short path around them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A dependency: the user's file and the definition's, as indexes of [`Graph::files`].
pub(super) type Edge = (usize, usize);

/// Files, and what they use of each other.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) files: Vec<String>,
    /// The names that the first file uses of the second.
    pub(super) edges: BTreeMap<Edge, BTreeSet<String>>,
}

impl Graph {
    /// Returns the strongly connected components with more than `limit` files, by path.
    pub(super) fn circles(&self, limit: usize) -> Vec<Vec<usize>> {
        let reachable: Vec<_> = (0..self.files.len())
            .map(|file| self.reachable(file))
            .collect();
        let mut circles = BTreeSet::new();
        for (file, from_here) in reachable.iter().enumerate() {
            let returns = |other: &usize| reachable[*other].contains(&file);
            let mut circle: Vec<usize> = from_here.iter().copied().filter(returns).collect();
            circle.sort_by_key(|&file| &self.files[file]);
            if circle.len() > limit {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Returns the edges between files of the circle, by path.
    pub(super) fn edges_inside(&self, circle: &[usize]) -> Vec<Edge> {
        let inside = |&(from, to): &Edge| circle.contains(&from) && circle.contains(&to);
        let mut edges: Vec<Edge> = self.edges.keys().copied().filter(inside).collect();
        edges.sort_by_key(|&(from, to)| (&self.files[from], &self.files[to]));
        edges
    }

    /// Returns the edges of a shortest path through three or more files of the circle, back to
    /// its start. `None` if the circle consists of pairs.
    pub(super) fn shortest_cycle(&self, circle: &[usize]) -> Option<Vec<Edge>> {
        let edges = self.edges_inside(circle);
        let cycles = edges.iter().filter_map(|&(from, to)| {
            // Without the direct way back, the path has another file on it.
            let mut cycle = self.path(to, from, (to, from))?;
            cycle.insert(0, (from, to));
            Some(cycle)
        });
        cycles.min_by_key(Vec::len)
    }

    fn next(&self, file: usize) -> impl Iterator<Item = usize> {
        self.edges
            .range((file, 0)..(file + 1, 0))
            .map(|(&(_, to), _)| to)
    }

    fn reachable(&self, start: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open = vec![start];
        while let Some(file) = open.pop() {
            open.extend(self.next(file).filter(|&to| found.insert(to)));
        }
        found
    }

    /// Returns the edges of a shortest path that avoids one edge.
    fn path(&self, start: usize, end: usize, avoided: Edge) -> Option<Vec<Edge>> {
        let mut came_from = BTreeMap::from([(start, start)]);
        let mut open = VecDeque::from([start]);
        while let Some(file) = open.pop_front() {
            for to in self.next(file).filter(|&to| (file, to) != avoided) {
                if let Entry::Vacant(entry) = came_from.entry(to) {
                    entry.insert(file);
                    open.push_back(to);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = end;
        while at != start {
            let from = *came_from.get(&at)?;
            path.insert(0, (from, at));
            at = from;
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: usize, edges: &[Edge]) -> Graph {
        Graph {
            files: (0..files).map(|file| format!("{file}.rs")).collect(),
            edges: edges.iter().map(|&edge| (edge, BTreeSet::new())).collect(),
        }
    }

    #[test]
    fn circles_are_found_with_their_shortest_path() {
        // A circle of four with a shortcut, a pair, and a file that uses both.
        let edges = [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 0),
            (2, 0),
            (4, 5),
            (5, 4),
            (6, 0),
            (6, 4),
        ];
        let graph = graph(7, &edges);
        let circles = graph.circles(2);
        assert_eq!(circles, [vec![0, 1, 2, 3]]);
        assert_eq!(
            graph.shortest_cycle(&circles[0]),
            Some(vec![(0, 1), (1, 2), (2, 0)])
        );
        assert_eq!(graph.circles(1).len(), 2);
    }

    #[test]
    fn pairs_that_share_a_file_have_no_longer_path() {
        let graph = graph(3, &[(0, 1), (1, 0), (1, 2), (2, 1)]);
        let circles = graph.circles(2);
        assert_eq!(circles, [vec![0, 1, 2]]);
        assert_eq!(graph.shortest_cycle(&circles[0]), None);
    }
}
