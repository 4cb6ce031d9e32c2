//! What a scenario of an informer sets, read.

use std::time::Duration;

use informer_factory::{InformerOptions, Namespaces, QueueKind, Transform};
use informer_testkit::{ApiServer, LabelSelector, ListOptions};
use k8s_openapi::api::core::v1::ConfigMap;

use super::form::Form;
use crate::scenario::{Malformed, Scenario, Step};

/// A time as Go writes it: `5s`, `2m`, `1h30m`, `100ms`; a bare `0` is one, too.
pub(super) fn duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let letters = after
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        let number: f64 = number.parse().ok()?;
        total += Duration::try_from_secs_f64(number * unit).ok()?;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

/// The settings of one scenario.
pub(super) struct Settings<'a> {
    scenario: &'a Scenario,
}

impl<'a> Settings<'a> {
    pub(super) fn of(scenario: &'a Scenario) -> Self {
        Self { scenario }
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.scenario.setting(name)
    }

    fn read<V>(
        &self,
        name: &str,
        read: impl Fn(&str) -> Option<V>,
    ) -> Result<Option<V>, Malformed> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        let step = Step::new("set", [name, text]);
        let value = read(text).ok_or_else(|| self.scenario.malformed("no such value", &step));
        value.map(Some)
    }

    /// Whether lines of requests are written.
    pub(super) fn has_requests(&self) -> bool {
        self.get("requests") != Some("no")
    }

    /// Whether lines of failures are written.
    pub(super) fn has_failures(&self) -> bool {
        self.get("failures") == Some("yes")
    }

    /// Whether there is an index from the beginning.
    pub(super) fn has_index(&self) -> bool {
        self.get("index") == Some("data")
    }

    /// The one namespace, unless it is all.
    pub(super) fn namespace(&self) -> Option<&'a str> {
        self.get("namespace").filter(|name| *name != "all")
    }

    pub(super) fn labels(&self) -> Option<&'a str> {
        self.get("labels")
    }

    /// What part of the collection the informer follows.
    pub(super) fn selection(&self) -> ListOptions {
        let mut options = ListOptions::default();
        options.selection.namespace = self.namespace().map(str::to_owned);
        if let Some(labels) = self.labels() {
            options.selection.labels = LabelSelector::parse(labels).unwrap_or_default();
        }
        options
    }

    pub(super) fn resync(&self) -> Result<Duration, Malformed> {
        Ok(self.read("resync", duration)?.unwrap_or_default())
    }

    /// The server.
    pub(super) fn server(&self) -> Result<ApiServer, Malformed> {
        let number = |text: &str| text.parse::<usize>().ok();
        let version = self.read("version", |text| text.parse::<u64>().ok())?;
        let history = self.read("history", number)?;
        let page = self.read("page", number)?.filter(|page| *page > 0);
        // Bookmarks are steps of the scenario, and nothing else.
        let mut builder = ApiServer::builder()
            .readable_uids()
            .bookmark_interval(Duration::from_secs(100 * 365 * 24 * 3600))
            .starting_version(version.unwrap_or(1))
            .history_limit(history.unwrap_or(10_000));
        if let Some(page) = page {
            builder = builder.page_limit(page);
        }
        Ok(builder.build())
    }

    /// Whether objects are changed after they were decoded.
    pub(super) fn has_transform(&self) -> bool {
        self.get("transform").is_some_and(|name| name != "none")
    }

    pub(super) fn transform(&self) -> Result<Option<Transform<ConfigMap>>, Malformed> {
        Ok(self.read("transform", transform)?.flatten())
    }

    /// What the informer is asked for.
    pub(super) fn options<T: Form>(
        &self,
        queue: QueueKind,
    ) -> Result<InformerOptions<T>, Malformed> {
        let mut reflector = informer_factory::reflector::Config::default();
        reflector.streaming = self.get("client") != Some("listing");
        let mut options = InformerOptions::new().queue(queue).reflector(reflector);
        if let Some(namespace) = self.namespace() {
            options = options.namespaces(Namespaces::one(namespace));
        }
        if let Some(labels) = self.labels() {
            options = options.labels(labels);
        }
        let resync = self.resync()?;
        if !resync.is_zero() {
            options = options.default_resync(resync);
        }
        options.transform = T::transform(self)?;
        Ok(options)
    }
}

fn transform(name: &str) -> Option<Option<Transform<ConfigMap>>> {
    let transform = match name {
        "none" => return Some(None),
        // An object cannot become something without metadata here: it fails.
        "fail" | "keyless" => Transform::new(|object: ConfigMap| match data(&object) {
            Some("bad") => Err("bad data".to_owned()),
            _ => Ok(object),
        }),
        "strip" => Transform::new(|mut object: ConfigMap| {
            object.data = None;
            Ok(object)
        }),
        "mark" => Transform::new(|mut object: ConfigMap| {
            if let Some(value) = object.data.as_mut().and_then(|data| data.get_mut("v"))
                && !value.is_empty()
            {
                value.push('+');
            }
            Ok(object)
        }),
        "blank" => Transform::new(|mut object: ConfigMap| {
            object.metadata.resource_version = None;
            Ok(object)
        }),
        _ => return None,
    };
    Some(Some(transform))
}

/// What the index `data` is over.
pub(super) fn data(object: &ConfigMap) -> Option<&str> {
    let value = object.data.as_ref()?.get("v")?;
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        let ms = Duration::from_millis;
        assert_eq!(duration("100ms"), Some(ms(100)));
        assert_eq!(duration("1h30m"), Some(ms(5_400_000)));
        assert_eq!(duration("1.5s"), Some(ms(1500)));
        assert_eq!(duration("0"), Some(ms(0)));
        for text in ["", "5", "s", "5x"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
