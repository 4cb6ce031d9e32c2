//! Drives the machine by hand: no runtime, no network, no clock.
//!
//! `cargo run -p informer-reflector --no-default-features --example replay`

use std::{error::Error, sync::Arc, time::Duration};

use informer_reflector::{
    Body, Config, Effect, Failure, FailureKind, Identity, Input, Item, Machine, ObjectKey, Page,
    WatchEvent,
};

fn pod(name: &str, version: &str) -> Item<String> {
    let key = ObjectKey::new(Some("default"), name).expect("a valid name");
    let identity = Identity::new(key, format!("uid-of-{name}"), version);
    Item::new(
        identity,
        Body::Decoded(Arc::new(format!("{name} at {version}"))),
    )
}

fn list(version: &str, items: Vec<Item<String>>) -> Input<String> {
    Input::Page(Ok(Page::new(items, version)))
}

/// What a server said one afternoon, with the seconds at which it was said.
fn afternoon() -> Vec<(u64, &'static str, Input<String>)> {
    let event = |event| Input::Event(Ok(event));
    let gone = Failure::new(FailureKind::Expired, "Expired", "too old resource version");
    vec![
        (0, "we start", Input::Start),
        (1, "a list of one", list("5", vec![pod("nginx", "3")])),
        (1, "the sink has it", Input::Accepted),
        (1, "the watch is open", Input::WatchOpened(Ok(()))),
        (
            9,
            "a pod is born",
            event(WatchEvent::Added(pod("redis", "6"))),
        ),
        (9, "the sink has it", Input::Accepted),
        (400, "the server closes in good time", Input::StreamEnded),
        (400, "and opens again", Input::WatchOpened(Ok(()))),
        (
            700,
            "but its history is gone",
            event(WatchEvent::Error(gone)),
        ),
        (702, "we have waited", Input::Timer),
        (
            702,
            "a list without nginx",
            list("90", vec![pod("redis", "6")]),
        ),
        (702, "the sink has it", Input::Accepted),
        (702, "we stop", Input::Stop),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    // The same seed and the same inputs give the same effects, so an afternoon can be replayed.
    let mut machine = Machine::new(Config::default(), 42);
    let mut effects = Vec::new();
    for (second, story, input) in afternoon() {
        machine.step(Duration::from_secs(second), input, &mut effects);
        println!("{second:>4} s  {story}");
        for effect in effects.drain(..) {
            match effect {
                Effect::List(request) => println!("          -> list {:?}", request.version),
                Effect::Watch(request) => println!("          -> watch {:?}", request.version),
                Effect::Abandon => println!("          -> drop what is in flight"),
                Effect::Emit(emission) => println!("          -> hand on {emission:?}"),
                Effect::Report(report) => println!("             {report:?}"),
            }
        }
    }
    let resume = machine.resume_version().ok_or("nothing was received")?;
    println!("resumes from {resume}, {:?}", machine.phase());
    Ok(())
}
