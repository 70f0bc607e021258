//! The ledger's own words as messages. Total matches: a new one in the ledger doesn't compile until it has a text here.

use counterfoil_ledger::attempt::{AttemptEnd, Class, Why};
use counterfoil_ledger::decide::{Escalation, Reason, RuledOut};
use counterfoil_ledger::entry::{Actor, Incident};
use counterfoil_ledger::evidence::{Difference, Doubt, LookUp, Unavailable, Walk};
use counterfoil_ledger::intent::EffectKind;
use counterfoil_ledger::operation::Operation;
use counterfoil_ledger::state::{Event, State};

use super::{Arg, Message};
use crate::Provider;

/// The word on screen for a state.
pub(crate) fn state(state: State, bounced: bool) -> Message {
    match state {
        State::AwaitingApproval => Message::StateAwaitingApproval,
        State::Authorized => Message::StateAuthorized,
        State::Submitted => Message::StateSubmitted,
        State::Unknown => Message::StateUnknown,
        State::Pending => Message::StatePending,
        State::Confirmed => Message::StateConfirmed,
        State::Failed if bounced => Message::StateBounced,
        State::Failed => Message::StateFailed,
        State::Escalated => Message::StateEscalated,
        State::Cancelled => Message::StateCancelled,
    }
}

/// What a state means.
pub(crate) fn state_means(state: State, bounced: bool) -> Message {
    match state {
        State::AwaitingApproval => Message::MeansAwaitingApproval,
        State::Authorized => Message::MeansAuthorized,
        State::Submitted => Message::MeansSubmitted,
        State::Unknown => Message::MeansUnknown,
        State::Pending => Message::MeansPending,
        State::Confirmed => Message::MeansConfirmed,
        State::Failed if bounced => Message::MeansBounced,
        State::Failed => Message::MeansFailed,
        State::Escalated => Message::MeansEscalated,
        State::Cancelled => Message::MeansCancelled,
    }
}

/// `Refund of 380.00 TWD`.
pub(crate) fn what(operation: &Operation, provider: &Provider) -> Message {
    let EffectKind::Refund = operation.intent.effect;
    Message::RefundOf { money: Arg::Money(provider.display(operation.intent.money)) }
}

/// What a class means, for the glossary.
pub(crate) fn class_means(class: Class) -> (Message, Message) {
    match class {
        Class::NotSent => (Message::ClassNotSent, Message::MeansNotSent),
        Class::Deferred => (Message::ClassDeferred, Message::MeansDeferred),
        Class::Refused => (Message::ClassRefused, Message::MeansRefused),
        Class::Effect => (Message::ClassEffect, Message::MeansEffect),
        Class::Indeterminate => (Message::ClassNoAnswer, Message::MeansIndeterminate),
    }
}

/// How an attempt ended, in two or three words.
pub(crate) fn class(end: &AttemptEnd) -> Message {
    match end.class {
        Class::NotSent => Message::ClassNotSent,
        Class::Deferred => Message::ClassDeferred,
        Class::Refused => Message::ClassRefused,
        Class::Effect => Message::ClassEffect,
        Class::Indeterminate if end.http_status.is_some() => Message::ClassNoProof,
        Class::Indeterminate => Message::ClassNoAnswer,
    }
}

pub(crate) fn why(why: Why) -> Message {
    match why {
        Why::ConnectFailed => Message::WhyConnectFailed,
        Why::DeadlinePassed => Message::WhyDeadlinePassed,
        Why::NotBuilt => Message::WhyNotBuilt,
        Why::TimedOut => Message::WhyTimedOut,
        Why::ConnectionLost => Message::WhyConnectionLost,
        Why::Unauthorized => Message::WhyUnauthorized,
        Why::RateLimitNamed => Message::WhyRateLimitNamed,
        Why::RateLimitUnnamed => Message::WhyRateLimitUnnamed,
        Why::DefiniteRefusal => Message::WhyDefiniteRefusal,
        Why::Accepted => Message::WhyAccepted,
        Why::AlreadyDone => Message::WhyAlreadyDone,
        Why::KeyReusedOtherParameters => Message::WhyKeyReused,
        Why::InFlight => Message::WhyInFlight,
        Why::LockTimeout => Message::WhyLockTimeout,
        Why::ServerError => Message::WhyServerError,
        Why::Redirected => Message::WhyRedirected,
        Why::Forbidden => Message::WhyForbidden,
        Why::BodyNotUnderstood => Message::WhyBodyNotUnderstood,
        Why::EffectMismatch => Message::WhyEffectMismatch,
        Why::UnlistedAnswer => Message::WhyUnlistedAnswer,
    }
}

pub(crate) fn unavailable(why: Unavailable) -> Message {
    match why {
        Unavailable::NotConnected => Message::UnavailableNotConnected,
        Unavailable::NoAnswer => Message::UnavailableNoAnswer,
        Unavailable::Unauthorized => Message::UnavailableUnauthorized,
        Unavailable::Forbidden => Message::UnavailableForbidden,
        Unavailable::NotFound => Message::UnavailableNotFound,
        Unavailable::RateLimited => Message::UnavailableRateLimited,
        Unavailable::ServerError => Message::UnavailableServerError,
        Unavailable::UnexpectedStatus => Message::UnavailableUnexpectedStatus,
        Unavailable::NotWellFormed => Message::UnavailableNotWellFormed,
        Unavailable::AccountDown => Message::UnavailableAccountDown,
    }
}

pub(crate) fn doubt(doubt: Doubt) -> Message {
    match doubt {
        Doubt::PageCap => Message::DoubtPageCap,
        Doubt::CursorLoop => Message::DoubtCursorLoop,
    }
}

/// What a look-up brought.
pub(crate) fn look_up(look_up: &LookUp, counted: bool) -> Message {
    let at = Arg::Time(look_up.started_at);
    let pages = Arg::Count(look_up.pages.into());
    let ids = Arg::idents(look_up.effects.iter().map(|effect| &effect.external_id));
    match (look_up.walk, look_up.effects.is_empty()) {
        (Walk::Complete, false) => Message::LookUpFound { at, pages, ids },
        (Walk::Complete, true) if counted => Message::LookUpNotFound { at, pages },
        (Walk::Complete, true) => Message::LookUpTooEarly { at, pages },
        (Walk::Inconclusive(why), true) => Message::LookUpInconclusive { at, doubt: Arg::words(doubt(why)) },
        (Walk::Inconclusive(why), false) => {
            Message::LookUpFoundPartly { at, ids, doubt: Arg::words(doubt(why)) }
        }
        (Walk::Unavailable(why), _) => Message::LookUpUnavailable { at, why: Arg::words(unavailable(why)) },
    }
}

pub(crate) fn ruled_out(why: RuledOut) -> Message {
    match why {
        RuledOut::CancelAsked => Message::RuledOutCancelAsked,
        RuledOut::NoKeys => Message::RuledOutNoKeys,
        RuledOut::KeyProtectsSuccessOnly => Message::RuledOutSuccessOnly,
        RuledOut::WindowClosed => Message::RuledOutWindowClosed,
        RuledOut::Restored => Message::RuledOutRestored,
        RuledOut::AttemptsUsed => Message::RuledOutAttemptsUsed,
    }
}

pub(crate) fn escalation(why: Escalation) -> Message {
    match why {
        Escalation::WalkInDoubt(Doubt::PageCap) => Message::EscalatedPageCap,
        Escalation::WalkInDoubt(Doubt::CursorLoop) => Message::EscalatedCursorLoop,
        Escalation::Mismatch => Message::EscalatedMismatch,
        Escalation::UnclaimedEqualEffect => Message::EscalatedUnclaimedEqual,
        Escalation::ResendRuledOut(why) => Message::EscalatedRuledOut { why: Arg::words(ruled_out(why)) },
        Escalation::TimeIsUp => Message::EscalatedTimeIsUp,
    }
}

/// Why, in the few words that a list has room for.
pub(crate) fn reason_short(reason: Reason, bounced: bool) -> Message {
    match reason {
        _ if bounced => Message::ShortBounced,
        Reason::WaitsForApproval => Message::ShortWaitsForApproval,
        Reason::ReadyToSend => Message::ShortReadyToSend,
        Reason::SendsAgainLater => Message::ShortSendsAgainLater,
        Reason::AccountPaused => Message::ShortAccountPaused,
        Reason::PaymentBlocked => Message::ShortPaymentBlocked,
        Reason::SenderAtWork => Message::ShortSenderAtWork,
        Reason::LooksUpNext => Message::ShortLooksUpNext,
        Reason::LookUpFailed { why } => Message::ShortLookUpFailed { why: Arg::words(unavailable(why)) },
        Reason::TooEarlyToCount => Message::ShortTooEarly,
        Reason::AbsenceNotProvedYet { walks, needed } => Message::ShortAbsenceNotProved {
            walks: Arg::Count(walks.into()),
            needed: Arg::Count(needed.into()),
        },
        Reason::AbsentAndProtected => Message::ShortResends,
        Reason::KeyIsTheQuestion => Message::ShortKeyIsTheQuestion,
        Reason::RestoreInDoubt { unavailable: Some(why), .. } => {
            Message::ShortLookUpFailed { why: Arg::words(unavailable(why)) }
        }
        Reason::RestoreInDoubt { walks, needed, unavailable: None } => {
            Message::ShortRestored { walks: Arg::Count(walks.into()), needed: Arg::Count(needed.into()) }
        }
        Reason::ResendWaitsForClock => Message::ShortResendWaitsForClock,
        Reason::ResendWaitsForAccount => Message::ShortResendWaitsForAccount,
        Reason::ResendWaitsForPayment => Message::ShortResendWaitsForPayment,
        Reason::WaitsForEvidence => Message::ShortWaitsForEvidence,
        Reason::StoredFailureReplays => Message::ShortStoredFailure,
        Reason::AtProvider => Message::ShortAtProvider,
        Reason::WatchedForBounce => Message::ShortWatched,
        Reason::Settled => Message::ShortSettled,
        Reason::StoppedBeforeSending => Message::ShortStopped,
        Reason::ToPerson { why } => Message::ShortToPerson { why: Arg::words(escalation(why)) },
        Reason::StillWithPerson => Message::ShortStillWithPerson,
    }
}

pub(crate) fn event(event: Event) -> Message {
    match event {
        Event::Approved => Message::EventApproved,
        Event::Denied => Message::EventDenied,
        Event::Lapsed => Message::EventLapsed,
        Event::HeldBack => Message::EventHeldBack,
        Event::RestoreInDoubt => Message::EventRestoreInDoubt,
        Event::Marked => Message::EventMarked,
        Event::NothingHappened => Message::EventNothingHappened,
        Event::AnswerLost => Message::EventAnswerLost,
        Event::Refused => Message::EventRefused,
        Event::EffectLive => Message::EventEffectLive,
        Event::EffectPending => Message::EventEffectPending,
        Event::EffectFailed => Message::EventEffectFailed,
        Event::ExecutionFailed => Message::EventExecutionFailed,
        Event::Escalated => Message::EventEscalated,
        Event::Permitted => Message::EventPermitted,
        Event::Cancelled => Message::EventCancelled,
    }
}

pub(crate) fn actor(actor: &Actor) -> Message {
    match actor {
        Actor::Token(name) => Message::ActorToken { name: Arg::ident(name) },
        Actor::Person(name) => Message::ActorPerson { name: Arg::ident(name) },
        Actor::Sender(name) => Message::ActorSender { name: Arg::ident(name) },
        Actor::Reconciler(name) => Message::ActorReconciler { name: Arg::ident(name) },
        Actor::Provider(name) => Message::ActorProvider { name: Arg::ident(name) },
    }
}

/// The fields in which an effect differs.
pub(crate) fn fields(differences: &[Difference]) -> Arg {
    let field = |difference: &Difference| {
        Arg::words(match difference {
            Difference::Amount => Message::FieldAmount,
            Difference::Currency => Message::FieldCurrency,
            Difference::Target => Message::FieldTarget,
        })
    };
    Arg::Many(differences.iter().map(field).collect())
}

pub(crate) fn incident(incident: &Incident) -> Message {
    match incident {
        Incident::EffectAgainstState { state: was, external_id } => Message::IncidentAgainstState {
            id: Arg::ident(external_id),
            state: Arg::words(state(*was, false)),
        },
        Incident::TwoEffects { external_ids } => {
            Message::IncidentTwoEffects { ids: Arg::idents(external_ids) }
        }
        Incident::Mismatch { external_id, differences } => {
            Message::IncidentMismatch { id: Arg::ident(external_id), fields: fields(differences) }
        }
        Incident::Bounced { external_id } => Message::IncidentBounced { id: Arg::ident(external_id) },
    }
}
