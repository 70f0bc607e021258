//! Random histories of one refund against a provider that keeps its promises, with the rules of the mission checked after every
//! step: callers who ask again and cancel, senders that die at any point, transport faults, clocks that are set, webhooks that are
//! late, repeated and out of order, look-ups that return late, reviewers who approve, deny and permit a late resend.
//!
//! `COUNTERFOIL_MODEL_CASES` asks for more histories than the default, which takes a few seconds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod lies;
mod provider;
mod reach;
mod rules;
mod steps;
#[path = "../support/mod.rs"]
mod support;
mod world;

use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

use steps::{Setup, Step};
use world::World;

const CASES: u32 = 600;

fn config() -> ProptestConfig {
    let cases = std::env::var("COUNTERFOIL_MODEL_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: cases.unwrap_or(CASES),
        max_shrink_iters: 20_000,
        // A history that breaks a rule becomes a test of its own, with a name.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What is drawn: how the world is made, and what happens in it. Every step makes sense in every world, if only as nothing.
struct History;

impl ReferenceStateMachine for History {
    type State = Setup;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Setup> {
        steps::setup().boxed()
    }

    fn transitions(_: &Setup) -> BoxedStrategy<Step> {
        steps::step().boxed()
    }

    fn apply(setup: Setup, _: &Step) -> Setup {
        setup
    }
}

struct Ledger;

impl StateMachineTest for Ledger {
    type SystemUnderTest = World;
    type Reference = History;

    fn init_test(setup: &Setup) -> World {
        let mut world = World::begins(*setup);
        world.is_checked();
        world
    }

    fn apply(mut world: World, _: &Setup, step: Step) -> World {
        world.happens(&step);
        world
    }

    fn teardown(mut world: World, _: Setup) {
        world.faults_stop();
        rules::is_settled_as_its_effects_prove(&world);
    }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn no_history_breaks_a_rule(sequential 1..40 => Ledger);
}
