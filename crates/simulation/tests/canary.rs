//! SEC-9: payloads stay out of logs, metrics, errors and `Debug`, through whatever goes wrong.

use informer_simulation::{Packing, listen, searched, simulate};
use k8s_openapi::api::core::v1::ConfigMap;

/// One test, since logs are the process's: nothing is found in many runs, and what is put into a
/// line is found.
#[test]
fn no_text_shows_a_payload() {
    assert!(listen(), "nobody else listens in this process");
    for seed in 0..30 {
        let outcome = simulate(seed, Packing::Drawn, false);
        assert!(outcome.violations.is_empty(), "{}", outcome.story);
    }
    let before = searched();
    assert!(before.texts > 10_000, "too little was searched: {before:?}");
    assert_eq!(before.hits, 0, "{:#?}", before.places);

    let json = r#"{"metadata":{},"data":{"token":"CANARY-d1f0"}}"#;
    let object: ConfigMap = serde_json::from_str(json).expect("a config map");
    tracing::trace!(target: "informer_factory", ?object, "a line that shows an object");
    tracing::trace!(target: "hyper", ?object, "somebody else's");
    let after = searched();
    assert_eq!(after.hits, 1, "{:#?}", after.places);
    assert_eq!(after.foreign, ["hyper"]);
}
