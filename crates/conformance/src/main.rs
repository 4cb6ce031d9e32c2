//! `conformance record` and `conformance compare`; `cargo xtask conformance` builds the judge and
//! calls them.

fn main() {}
