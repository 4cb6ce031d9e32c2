//! Packed objects: view, identity and bytes of each are of one state, and that state was written
//! (PO-1 to PO-3).

use k8s_openapi::api::core::v1::ConfigMap;

use super::Findings;
use crate::{
    evidence::Evidence,
    object::{Content, body},
    plan::{PackedKind, PackedPlan},
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    for (at, seen) in evidence.distinct_sightings() {
        let Some(packed) = seen.packed() else {
            continue;
        };
        let whole = match packed.unpacked() {
            Ok(whole) => whole,
            Err(error) => {
                findings.check("PO-1", at, false, || format!("{seen:?}: {error}"));
                continue;
            }
        };
        let same = state(&**seen, packed.tier()) == state(&whole, tier(&whole));
        findings.check("PO-1", at, same, || {
            format!("the view is of {seen:?}, the bytes are {whole:?}")
        });
        let identity = packed.identity();
        let same = identity.key.as_str() == whole.key()
            && identity.uid == *whole.uid()
            && identity.version.as_number() == Some(whole.version());
        findings.check("PO-2", at, same, || {
            format!("the identity is {identity:?}, the bytes are {whole:?}")
        });
        findings.check("PO-3", at, is_written(evidence, &whole), || {
            format!("nobody wrote {whole:?}")
        });
    }
}

/// All that the simulation reads of an object.
fn state<'a>(
    content: &'a dyn Content,
    tier: &'a str,
) -> (String, &'a str, u64, u64, Option<String>, &'a str) {
    let group = content.group();
    let (version, serial) = (content.version(), content.serial());
    (content.key(), content.uid(), version, serial, group, tier)
}

fn tier(whole: &ConfigMap) -> &str {
    let labels = whole.metadata.labels.as_ref();
    labels
        .and_then(|labels| labels.get("tier"))
        .map_or("", String::as_str)
}

/// Whether labels, annotations and data are those of the write that the object names.
fn is_written(evidence: &Evidence, whole: &ConfigMap) -> bool {
    let Some(written) = evidence.truth.write(whole.serial()) else {
        return false;
    };
    let (namespace, name) = written.key.split_once('/').unwrap_or_default();
    let template = evidence.plan.informer.template(written.serial);
    let body = body(namespace, name, &written.tier, written.serial, template);
    let wanted: ConfigMap = serde_json::from_value(body).expect("a config map");
    let has_data = !matches!(
        evidence.plan.informer.packed,
        Some(PackedPlan {
            kind: PackedKind::Metadata,
            ..
        })
    );
    whole.data == wanted.data.filter(|_| has_data)
        && whole.metadata.labels == wanted.metadata.labels
        && whole.metadata.annotations == wanted.metadata.annotations
}
