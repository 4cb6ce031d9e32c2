//! Servers that lag, forget and restart: what is listed and watched next is neither older than what
//! is held nor more than it has to be.

use std::num::NonZeroU32;
use std::time::Duration;

use informer_factory::ResourceVersion;
use informer_factory::reflector::{Config, InitialState};
use informer_testkit::{ApiServer, Fault, Match, Resource, Times, Verb};
use serde_json::json;

use crate::cluster::{self, QUEUES, SOON, pods};
use crate::world::{HOUR, World, plain};

async fn reaches(world: &World, version: u64) {
    let version = ResourceVersion::from(version);
    let reached = world.informer.wait_for_version(&version, SOON).await;
    reached.unwrap_or_else(|error| panic!("{error}\n{:#?}", world.server.requests()));
}

/// FM-01: after the watch has expired the list comes from a replica that lags, by one change and
/// more: the store never goes back, and nobody is told anything.
#[tokio::test(start_paused = true)]
async fn a_lagging_replica_never_takes_the_store_back() {
    for queue in QUEUES {
        for lag in 1..=4 {
            let world = World::synced(queue, &["a", "b"]).await;
            for _ in 0..4 {
                world.change("a");
            }
            world.told.wait(4).await;
            let before = world.stored();
            let stale = Fault::OlderVersion(world.server.version() - lag);
            world.server.fault(Match::list(), stale, Times::Once);
            let expired = Fault::expired_event();
            world.server.fault(Match::watch(), expired, Times::Once);
            world.watch_again().await;
            while world.requests(Verb::Watch).len() < 3 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            assert_eq!(world.stored(), before, "lag {lag}");
            assert_eq!(world.requests(Verb::List).len(), 3, "asked again, once");
            assert!(world.told.take().is_empty(), "lag {lag}");
            world.converges().await;
        }
    }
}

/// FM-02: after a restart of this process any state is good enough at first, by default. Who knows
/// a version that was seen before can wait for it, and who needs the latest state can ask for it.
#[tokio::test(start_paused = true)]
async fn a_restart_before_a_lagging_replica_is_waited_out() {
    for queue in QUEUES {
        let world = World::new(queue, &["a"]);
        let stale = world.server.version();
        let seen = world.change("a");
        let lags = Fault::OlderVersion(stale);
        world.server.fault(Match::list(), lags, Times::Once);
        let late = Fault::Delay(Duration::from_secs(5));
        world.server.fault(Match::watch(), late, Times::Once);
        world.factory.start().expect("a runtime");
        world.factory.wait_synced(SOON).await.expect("synced");
        assert_eq!(world.stored(), [format!("a@{stale}")]);
        let version = ResourceVersion::from(seen);
        let short = Duration::from_secs(2);
        let early = world.informer.wait_for_version(&version, short).await;
        assert!(early.is_err(), "it is not there yet");
        reaches(&world, seen).await;
        assert_eq!(world.stored(), [format!("a@{seen}")]);
    }
    let mut config = plain();
    config.initial = InitialState::Consistent;
    let world = World::over(ApiServer::new(), QUEUES[0], config);
    world.start().await;
    assert_eq!(world.requests(Verb::List)[0].line.version, "");
}

/// FM-06: the continue token expires at each page in turn, while objects come and go between the
/// pages. What is taken is one state of the server, and not a mixture.
#[tokio::test(start_paused = true)]
async fn a_token_that_expires_at_any_page_mixes_nothing() {
    for queue in QUEUES {
        for page in 1..=3 {
            let server = ApiServer::new();
            for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
                let created = server.create(&pods(), cluster::pod(name, "n1"));
                created.expect("created");
            }
            let mut config = plain();
            config.initial = InitialState::Consistent;
            config.page_size = NonZeroU32::new(2);
            let world = World::over(server, queue, config);
            let rest = Match::list().continuation(true);
            let slow = Fault::Delay(Duration::from_secs(1));
            world.server.fault(rest, slow, Times::Always);
            world.factory.start().expect("a runtime");
            while world.requests(Verb::List).len() <= page {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            // The page is on its way: its state is gone before it is read.
            world.delete("a");
            world.delete("h");
            world.create("aa");
            world.server.compact_and_forget();
            world.factory.wait_synced(SOON).await.expect("synced");
            cluster::assert_store_matches_pods(&world.server, &world.informer);
            let told = world.told.wait(7).await;
            assert_eq!(told.len(), 7, "page {page}: {told:?}");
            assert!(told.iter().all(|line| line.ends_with(" initial")));
            let lists = world.requests(Verb::List).len();
            assert_eq!(lists, page + 2, "{:#?}", world.server.requests());
        }
    }
}

/// FM-15: three writes around the moment between the list and the watch, at each place: the watch
/// begins at the version of the list, and each write is told once.
#[tokio::test(start_paused = true)]
async fn writes_between_list_and_watch_are_told_once() {
    for queue in QUEUES {
        for before_the_watch in 0..=3 {
            let world = World::new(queue, &["a"]);
            let listed = world.server.version();
            let late = Fault::Delay(Duration::from_secs(1));
            world.server.fault(Match::watch(), late, Times::Once);
            world.factory.start().expect("a runtime");
            world.factory.wait_synced(SOON).await.expect("synced");
            let mut versions = Vec::new();
            for write in 0..3 {
                if write == before_the_watch {
                    world.watches_after(0).await;
                }
                versions.push(match write {
                    0 => world.create("b"),
                    1 => world.change("a"),
                    _ => {
                        world.delete("b");
                        world.server.version()
                    }
                });
            }
            reaches(&world, versions[2]).await;
            let watch = &world.requests(Verb::Watch)[0];
            assert_eq!(watch.line.version, listed.to_string());
            let [b, a, gone] = versions[..] else {
                panic!("three writes")
            };
            let expected = [
                format!("add a@{listed} initial"),
                format!("add b@{b}"),
                format!("update a@{listed} -> a@{a} Watch"),
                format!("delete b@{gone}"),
            ];
            let told = world.told.lines();
            // A key that comes and goes before it is applied may be left out (FM-44).
            let left_out = [expected[0].clone(), expected[2].clone()];
            assert!(told == expected || told == left_out, "{told:#?}");
            world.converges().await;
        }
    }
}

/// FM-22, R3: servers are restarted one after the other, in all the ways a watch can notice. The
/// watch goes on from its version; nothing is listed.
#[tokio::test(start_paused = true)]
async fn a_rolling_restart_costs_no_list() {
    let away = [
        Fault::Unreachable,
        Fault::Refuse,
        Fault::status(503, "ServiceUnavailable", "shutting down"),
        Fault::status(500, "InternalError", "a proxy says so"),
        Fault::status(502, "BadGateway", "a proxy says so"),
    ];
    for queue in QUEUES {
        for fault in &away {
            let world = World::synced(queue, &["a", "b"]).await;
            for round in 0..3 {
                let from = world.requests(Verb::Watch).len();
                world
                    .server
                    .fault(Match::any(), fault.clone(), Times::Always);
                match round {
                    0 => world.server.close_watches(),
                    _ => world.server.cut_watches(),
                }
                let version = world.change("a");
                tokio::time::sleep(Duration::from_secs(20)).await;
                assert!(world.requests(Verb::Watch).len() > from, "{fault:?}");
                world.server.clear_faults();
                reaches(&world, version).await;
            }
            assert_eq!(world.told.take().len(), 3, "{fault:?}");
            let lists = world.requests(Verb::List).len();
            assert_eq!(lists, 1, "{fault:?}: {:#?}", world.server.requests());
        }
    }
}

/// FM-23: nothing happens to the objects followed for long, and the server forgets. With bookmarks
/// the version moves on, so nothing is listed; without them one list makes up for it.
#[tokio::test(start_paused = true)]
async fn bookmarks_save_a_list_and_nothing_depends_on_them() {
    for queue in QUEUES {
        for bookmarks in [true, false] {
            let builder = ApiServer::builder().bookmark_interval(Duration::from_secs(10));
            let world = World::over(builder.build(), queue, plain());
            world.create("a");
            if !bookmarks {
                let never = Fault::BookmarkNever;
                world.server.fault(Match::watch(), never, Times::Always);
            }
            world.start().await;
            world.told.wait(1).await;
            let nodes = Resource::nodes();
            for name in ["n1", "n2", "n3"] {
                let node = json!({"metadata": {"name": name}});
                world.server.create(&nodes, node).expect("created");
            }
            tokio::time::sleep(Duration::from_secs(60)).await;
            world.server.compact_and_forget();
            world.watch_again().await;
            world.converges().await;
            let lists = world.requests(Verb::List).len();
            assert_eq!(lists, if bookmarks { 1 } else { 2 });
            assert_eq!(world.told.wait(1).await.len(), 1, "only `last` is new");
        }
    }
}

/// FM-25, FM-26, R9: the server takes a streaming list for a watch from now on, or never says that
/// the initial events are over: after a minute all is listed, and told once.
#[tokio::test(start_paused = true)]
async fn a_streaming_list_without_an_end_is_listed_within_a_minute() {
    let endless = [
        Fault::IgnoreInitialEvents,
        Fault::NoInitialEventsEnd,
        Fault::BookmarkNever,
    ];
    for queue in QUEUES {
        for fault in &endless {
            let server = ApiServer::new();
            for name in ["a", "b"] {
                let created = server.create(&pods(), cluster::pod(name, "n1"));
                created.expect("created");
            }
            let initial = Match::watch().initial_events(true);
            server.fault(initial, fault.clone(), Times::Always);
            let world = World::over(server, queue, Config::default().streaming(true));
            let start = tokio::time::Instant::now();
            world.factory.start().expect("a runtime");
            world.factory.wait_synced(SOON).await.expect("synced");
            assert!(start.elapsed() <= Duration::from_secs(61), "{fault:?}");
            assert_eq!(world.told.wait(2).await.len(), 2, "{fault:?}");
            assert_eq!(world.requests(Verb::List).len(), 1, "{fault:?}");
            world.converges().await;
        }
    }
}

/// FM-84: the machine sleeps for ten hours, and the connection is dead when it wakes up: time has
/// jumped past the deadline of the watch, and the next one makes up for the gap.
#[tokio::test(start_paused = true)]
async fn a_watch_that_died_while_the_machine_slept_is_replaced() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        world.server.fault(Match::watch(), Fault::Hang, Times::Once);
        world.watch_again().await;
        let a = world.change("a");
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(world.told.take().is_empty(), "the connection is dead");
        tokio::time::advance(10 * HOUR).await;
        let awake = tokio::time::Instant::now();
        reaches(&world, a).await;
        assert!(awake.elapsed() < Duration::from_secs(2), "found at once");
        assert_eq!(world.requests(Verb::List).len(), 1);
    }
}
