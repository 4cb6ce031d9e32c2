//! Answers that are not what was asked for: refused, forbidden, unknown, cut, or not the protocol.

use std::time::Duration;

use informer_factory::reflector::FailureKind;
use informer_factory::{InformerOptions, InformerState};
use informer_testkit::{Fault, Match, Resource, Times, Verb};
use kube_core::discovery::ApiResource;

use crate::cluster::{QUEUES, SOON};
use crate::world::{HOUR, World};

/// Each answer that can be wrong, and as what it is told.
fn answers() -> Vec<(Fault, FailureKind)> {
    vec![
        (Fault::Refuse, FailureKind::Connect),
        (
            Fault::status(403, "Forbidden", "no access to pods"),
            FailureKind::Forbidden,
        ),
        (
            Fault::status(404, "NotFound", "no such resource"),
            FailureKind::NotFound,
        ),
        (
            Fault::status(401, "Unauthorized", "who are you"),
            FailureKind::Unauthorized,
        ),
        (
            Fault::status(500, "InternalError", "out of order"),
            FailureKind::Internal,
        ),
        (Fault::Html, FailureKind::Protocol),
        (Fault::WrongKind, FailureKind::Protocol),
        (Fault::GarbageLine, FailureKind::Protocol),
        (Fault::TruncatedLine, FailureKind::Protocol),
        (Fault::Nameless, FailureKind::Protocol),
    ]
}

/// IN-4, FAX-3, R1, RFX-10: while every request fails, `wait_synced` names the source and the
/// kind of failure, no more than 400 requests an hour are made, and afterwards nothing is missing.
#[tokio::test(start_paused = true)]
async fn an_answer_that_stays_wrong_is_named_and_paced_and_heals() {
    for queue in QUEUES {
        for (fault, kind) in answers() {
            let world = World::new(queue, &["a", "b"]);
            world
                .server
                .fault(Match::any(), fault.clone(), Times::Always);
            world.factory.start().expect("a runtime");
            let error = world
                .factory
                .wait_synced(HOUR)
                .await
                .expect_err("nothing is right");
            let culprit = &error.culprits[0];
            assert_eq!(
                (error.culprits.len(), &*culprit.source),
                (1, "/api/v1/pods"),
                "{error}"
            );
            let failure = culprit.failure.as_ref().expect("it failed");
            let told = (
                failure.kind,
                failure.reason.is_empty(),
                culprit.attempts > 1,
            );
            assert_eq!(told, (kind, false, true), "{fault:?}: {error}");
            assert!(error.to_string().contains(&failure.to_string()), "{error}");
            assert_eq!(world.informer.status().state, InformerState::Starting);
            let requests = world.server.requests().len();
            assert!(requests <= 400, "{fault:?}: {requests} requests in an hour");
            world.server.clear_faults();
            world.factory.wait_synced(SOON).await.expect("healed");
            world.converges().await;
        }
    }
}

/// FM-30, FM-31, FM-33, FM-35, FM-52: what a watch brings that is not the protocol ends the watch;
/// the version does not move past it, so nothing is lost (RFX-2) and nothing is told twice (PR-13).
#[tokio::test(start_paused = true)]
async fn a_watch_that_is_not_the_protocol_loses_nothing() {
    // With those that need an event to spoil, a list brings peace.
    let faults = [
        (Fault::TruncatedLine, false),
        (Fault::GarbageLine, false),
        (Fault::UnknownType, false),
        (Fault::WrongKind, false),
        (Fault::Nameless, false),
        (Fault::CutAfterBytes(30), true),
        (Fault::Html, true),
        (Fault::CutAfterEvents(0), true),
        (Fault::Refuse, true),
        (Fault::status(403, "Forbidden", "no access to pods"), true),
        (Fault::status(404, "NotFound", "no such resource"), true),
    ];
    for queue in QUEUES {
        for (fault, lasts) in faults.clone() {
            let world = World::synced(queue, &["a"]).await;
            world
                .server
                .fault(Match::watch(), fault.clone(), Times::Always);
            world.server.close_watches();
            tokio::time::sleep(Duration::from_millis(50)).await;
            world.server.clear_requests();
            let (b, c) = (world.create("b"), world.create("c"));
            world.delete("c");
            let a = world.change("a");
            tokio::time::sleep(HOUR).await;
            if lasts {
                // A watch that its first bookmark spoils looks well until then.
                world.until_failing().await;
            }
            let status = world.informer.status();
            let (failure, state) = (&status.sources[0].failure, status.state);
            assert_eq!(failure.is_some(), lasts, "{fault:?}: {status:?}");
            assert_eq!(
                state == InformerState::Degraded,
                lasts,
                "{fault:?}: {status:?}"
            );
            let lists = world.requests(Verb::List).len();
            assert!(lists <= 200, "{fault:?}: {lists} lists in an hour");
            let requests = world.server.requests().len();
            assert!(requests <= 400, "{fault:?}: {requests} requests in an hour");

            world.server.clear_faults();
            world.converges().await;
            let told = world.told.take();
            let of = |line: String| told.iter().filter(|told| **told == line).count();
            assert_eq!(of(format!("add b@{b}")), 1, "{fault:?}: {told:?}");
            assert_eq!(
                told.iter()
                    .filter(|line| line.contains(&format!("-> a@{a} ")))
                    .count(),
                1
            );
            let c_came = of(format!("add c@{c}"));
            let c_went = told.iter().filter(|l| l.starts_with("delete c@")).count();
            assert_eq!(c_came, c_went, "{fault:?}: {told:?}");
            assert_eq!(world.informer.status().state, InformerState::Synced);
        }
    }
}

/// FM-10, FM-30: a list that breaks off is an error, never a short list.
#[tokio::test(start_paused = true)]
async fn a_list_that_breaks_off_deletes_nothing() {
    for queue in QUEUES {
        for bytes in [0, 1, 40, 200, 400] {
            let world = World::synced(queue, &["a", "b", "c"]).await;
            world
                .server
                .fault(Match::list(), Fault::CutAfterBytes(bytes), Times::Times(3));
            world.gap();
            world.converges().await;
            let told = world.told.wait(1).await;
            assert_eq!(told.len(), 1, "only `last` is new: {told:?}");
            assert!(
                world.requests(Verb::List).len() >= 5,
                "{:#?}",
                world.server.requests()
            );
        }
    }
}

/// FM-77: a resource the server does not know is named, asked for at most once a minute in the
/// end, and found within a minute once it is there.
#[tokio::test(start_paused = true)]
async fn an_unknown_resource_is_named_and_found_when_it_appears() {
    for queue in QUEUES {
        let world = World::new(queue, &[]);
        let kind = kube_core::GroupVersionKind::gvk("example.com", "v1", "Widget");
        let widgets = ApiResource::from_gvk(&kind);
        let options = InformerOptions::new();
        let informer = world
            .factory
            .dynamic(&widgets, options)
            .expect("a fresh factory");
        world.factory.start().expect("a runtime");
        let error = world
            .factory
            .wait_synced(HOUR)
            .await
            .expect_err("there are no widgets");
        assert_eq!(error.culprits.len(), 1, "{error}");
        assert_eq!(&*error.culprits[0].source, "/apis/example.com/v1/widgets");
        let failure = error.culprits[0].failure.as_ref().expect("it failed");
        assert_eq!(
            (failure.kind, failure.code),
            (FailureKind::NotFound, Some(404))
        );
        let late = Duration::from_secs(1800);
        let requests = world.server.requests();
        let late = requests
            .iter()
            .filter(|request| request.at > late && request.code == Some(404));
        assert!((30..=60).contains(&late.count()), "{requests:#?}");

        world.server.register(Resource::custom(
            "example.com",
            "v1",
            "Widget",
            "widgets",
            true,
        ));
        let minute = Duration::from_secs(61);
        informer
            .wait_synced(minute)
            .await
            .expect("found within a minute");
    }
}
