//! Costs by name, and their medians.

/// The cost of one way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Seconds until everything was there.
    pub(crate) seconds: f64,
    /// Processor seconds of the server.
    pub(crate) server_cpu: f64,
    /// Bytes that the server has allocated.
    pub(crate) server_allocated: f64,
    /// Bytes of bodies received.
    pub(crate) bytes: u64,
}

/// The costs of all rounds, in the order in which they were first added.
#[derive(Debug, Default)]
pub(crate) struct Table(Vec<(String, Vec<Cost>)>);

impl Table {
    /// Adds one cost.
    pub(crate) fn add(&mut self, name: &str, cost: Cost) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, costs)) => costs.push(cost),
            None => self.0.push((name.to_owned(), vec![cost])),
        }
    }

    /// Prints medians, with the least and the most in brackets.
    pub(crate) fn print(&self, title: &str) {
        println!(
            "| {title} | seconds | server CPU s | server allocates, MB | bytes |\n\
             | --- | --- | --- | --- | --- |"
        );
        for (name, costs) in &self.0 {
            let seconds = spread(costs.iter().map(|cost| cost.seconds));
            let cpu = spread(costs.iter().map(|cost| cost.server_cpu));
            let allocated = spread(costs.iter().map(|cost| cost.server_allocated / 1e6));
            let mut bytes: Vec<u64> = costs.iter().map(|cost| cost.bytes).collect();
            bytes.sort_unstable();
            println!(
                "| {name} | {seconds} | {cpu} | {allocated} | {} |",
                bytes[bytes.len() / 2]
            );
        }
        println!();
    }
}

fn spread(values: impl Iterator<Item = f64>) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (median, last) = (values[values.len() / 2], values[values.len() - 1]);
    format!("{median:.4} ({:.4}-{last:.4})", values[0])
}
