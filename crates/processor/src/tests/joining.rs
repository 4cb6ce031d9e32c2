//! PR-7, FM-69: joining at every point of every short history, in every order of the steps.

use super::history::{Act, Key, News};
use super::rig::{GROW, Rig};
use crate::listener::config::Overflow;

const COMMITS: usize = 3;

/// Each order in which three commits with their distributions and the three steps of a joiner can
/// come: true is the writer's turn.
fn orders() -> Vec<Vec<bool>> {
    fn extend(order: &mut Vec<bool>, writer: usize, joiner: usize, all: &mut Vec<Vec<bool>>) {
        if writer == 0 && joiner == 0 {
            all.push(order.clone());
        }
        for (turn, left) in [(true, writer), (false, joiner)] {
            if left > 0 {
                order.push(turn);
                extend(
                    order,
                    writer - usize::from(turn),
                    joiner - usize::from(!turn),
                    all,
                );
                order.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), 2 * COMMITS, 3, &mut all);
    all
}

fn histories() -> Vec<Vec<(Key, Act)>> {
    let acts = || (0..2).flat_map(|key| [Act::Set, Act::Delete].map(|act| (key, act)));
    let mut all: Vec<Vec<_>> = vec![vec![(0, Act::Set)], vec![(0, Act::Set), (1, Act::Set)]];
    for _ in 0..COMMITS {
        let longer = |history: &Vec<_>| {
            let history = history.clone();
            acts().map(move |act| history.iter().copied().chain([act]).collect::<Vec<_>>())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// One history in one order: the first commits are there before, the last three are interleaved.
fn join(
    history: &[(Key, Act)],
    order: &[bool],
    overflow: Overflow,
    eager: bool,
) -> Result<(), String> {
    let mut rig = Rig::new(overflow);
    let (before, during) = history.split_at(history.len() - COMMITS);
    for (key, act) in before {
        rig.commit(*key, *act);
    }
    let (mut registered, mut snapshot, mut begun) = (false, None, false);
    let mut writer = during.iter().flat_map(|act| [Some(act), None]);
    for turn in order {
        if *turn {
            match writer.next().expect("two steps a commit") {
                Some((key, act)) => rig.commit(*key, *act),
                // Before it has registered it is not on the list.
                None if registered => rig.distribute(rig.sequence()),
                None => {}
            }
        } else if !registered {
            registered = true;
        } else if let Some(sequence) = snapshot {
            rig.begin(sequence);
            begun = true;
        } else {
            snapshot = Some(rig.sequence());
        }
        if eager {
            rig.settle()?;
        }
        if !begun && !rig.heard.is_empty() {
            return Err("PR-7: told before it began".to_owned());
        }
    }
    rig.settle()?;
    rig.check_final()?;
    check_heard(
        &rig,
        snapshot.expect("taken"),
        matches!(overflow, Overflow::Grow { .. }),
    )
}

/// The objects of the snapshot, each once and initial, then every later change, each once.
fn check_heard(rig: &Rig, snapshot: u64, each: bool) -> Result<(), String> {
    let state = &rig.states[usize::try_from(snapshot).expect("small")];
    let (initial, later) = rig.heard.split_at(state.len().min(rig.heard.len()));
    let shown: Vec<_> = initial
        .iter()
        .map(|news| match news {
            News::Added(added) if added.initial => Ok((added.key, *added.object)),
            other => Err(format!("PR-8: {other:?} among the initial objects")),
        })
        .collect::<Result<_, _>>()?;
    if !shown
        .iter()
        .copied()
        .eq(state.iter().map(|(key, object)| (*key, **object)))
    {
        return Err(format!("PR-7: began with {shown:?}"));
    }
    if later.iter().any(News::is_initial) {
        return Err("PR-8: an initial object among the later ones".to_owned());
    }
    let told = |news: &News| format!("{news:?}");
    let expected = (snapshot + 1..=rig.sequence()).filter_map(|at| rig.news(at));
    let expected: Vec<_> = expected.map(|news| told(news)).collect();
    match !each || later.iter().map(told).eq(expected.iter().cloned()) {
        true => Ok(()),
        false => Err(format!("PR-7: later {later:?} instead of {expected:?}")),
    }
}

pub(super) fn check_all() -> Result<(), String> {
    let (orders, histories) = (orders(), histories());
    assert_eq!(orders.len(), 84, "nine steps, three of them the joiner's");
    for history in &histories {
        for order in &orders {
            for overflow in [GROW, Overflow::Coalesce] {
                for eager in [false, true] {
                    join(history, order, overflow, eager)
                        .map_err(|why| format!("{why} in {history:?}, {order:?}, {overflow:?}"))?;
                }
            }
        }
    }
    Ok(())
}

#[test]
fn joining_has_no_gap_and_no_repeat_at_any_point() {
    check_all().expect("PR-7");
}
