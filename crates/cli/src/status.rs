//! Where informers stand, in lines for a person: phase, last error, relists, reconnects.

use std::time::{Duration, Instant};

use informer_factory::{
    InformerStatus, ListenerStatus, ReceivedWire, ResourceVersion, SourceStatus,
};

use crate::escape;

/// Everything about these informers.
pub(crate) fn lines(informers: &[InformerStatus]) -> Vec<String> {
    let mut lines = Vec::new();
    for informer in informers {
        lines.push(format!(
            "{}: {:?} for {}, {} objects, {} commits, {} quarantined",
            escape::text(&informer.name),
            informer.state,
            ago(informer.since),
            informer.objects,
            informer.sequence,
            informer.quarantined,
        ));
        lines.extend(informer.sources.iter().map(source));
        lines.extend(informer.handlers.iter().map(handler));
    }
    lines
}

/// One source in one line.
pub(crate) fn source(source: &SourceStatus) -> String {
    let failure = match &source.failure {
        None => "no error".to_owned(),
        Some(failure) => {
            let text = failure.to_string();
            format!(
                "{} failed in a row, last: {}",
                source.attempts,
                escape::text(&text)
            )
        }
    };
    format!(
        "  {}: {:?} for {}{}, {} relists, {} reconnects, version {} received and {} applied, \
         {failure}",
        escape::text(&source.source),
        source.phase,
        ago(source.since),
        wire(source.wire),
        source.relists(),
        source.reconnects(),
        version(Some(&source.received)),
        version(source.applied.as_ref()),
    )
}

/// The format of the last answer, after a comma.
fn wire(wire: Option<ReceivedWire>) -> &'static str {
    match wire {
        Some(ReceivedWire::Json) => ", JSON",
        Some(ReceivedWire::Protobuf) => ", protobuf",
        _ => "",
    }
}

fn handler(handler: &ListenerStatus) -> String {
    format!(
        "  handler {}: {:?}, {} delivered, {} coalesced, {} pending (most {}), {} panics",
        escape::text(&handler.name),
        handler.phase,
        handler.delivered,
        handler.coalesced,
        handler.depth,
        handler.high_water,
        handler.panics,
    )
}

fn version(version: Option<&ResourceVersion>) -> String {
    match version.filter(|version| !version.is_unset()) {
        Some(version) => escape::text(&version.to_string()).into_owned(),
        None => "none".to_owned(),
    }
}

fn ago(since: Instant) -> String {
    brief(tokio::time::Instant::from_std(since).elapsed())
}

/// A duration with the precision that matters: `3 ms`, `4.2 s`, `12 min`.
pub(crate) fn brief(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{} µs", duration.as_micros()),
        seconds if seconds < 1.0 => format!("{} ms", duration.as_millis()),
        seconds if seconds < 100.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_brief() {
        for (duration, expected) in [
            (Duration::from_micros(12), "12 µs"),
            (Duration::from_millis(12), "12 ms"),
            (Duration::from_millis(1_250), "1.2 s"),
            (Duration::from_secs(600), "10 min"),
        ] {
            assert_eq!(brief(duration), expected);
        }
    }
}
