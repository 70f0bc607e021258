//! Whether the histories get anywhere: a model that never meets a rule can't see it broken.

use std::collections::BTreeMap;

use counterfoil_ledger::entry::Entry;
use counterfoil_ledger::state::State;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::steps::{setup, step};
use crate::world::World;

#[test]
fn the_histories_reach_every_state_many_resends_and_every_incident() {
    let mut runner = TestRunner::deterministic();
    let histories = (setup(), vec(step(), 40));
    let mut states = BTreeMap::new();
    let (mut resends, mut late_resends, mut absences, mut bounces, mut twos, mut mismatches) =
        (0, 0, 0, 0, 0, 0);
    for _ in 0..150 {
        let (setup, steps) = histories.new_tree(&mut runner).unwrap().current();
        let mut world = World::begins(setup);
        for step in steps {
            world.happens(&step);
            *states.entry(world.story.state()).or_insert(0) += 1;
        }
        resends += world.resends;
        late_resends += world.excuses.permitted;
        for entered in &world.story.entries {
            match &entered.entry {
                Entry::LookedUp { proves_absence: true, .. } => absences += 1,
                Entry::Incident(counterfoil_ledger::entry::Incident::Bounced { .. }) => bounces += 1,
                Entry::Incident(counterfoil_ledger::entry::Incident::TwoEffects { .. }) => twos += 1,
                Entry::Incident(counterfoil_ledger::entry::Incident::Mismatch { .. }) => mismatches += 1,
                _ => {}
            }
        }
    }
    assert_eq!(states.len(), State::ALL.len(), "{states:?}");
    let counts = [resends, late_resends, absences, bounces, twos, mismatches];
    assert!(
        counts.iter().all(|count| *count >= 3),
        "resends, late ones, absences, bounces, twos, mismatches: {counts:?}"
    );
}
