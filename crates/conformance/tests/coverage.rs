//! Everything known of client-go is accounted for in `UPSTREAM.md`.

use informer_conformance::coverage::findings;

#[test]
fn each_test_of_client_go_has_a_scenario_or_a_reason() {
    let findings = findings().expect("the files are readable");
    assert_eq!(findings, Vec::<String>::new());
}
