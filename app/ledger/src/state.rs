//! The states of an operation, and the one function that moves between them.
//!
//! [`transition`] is pure and total over (state, event). It knows nothing of time, money or policy: whether an event may be
//! raised is for [`crate::decide`]; whether it makes sense in a state is settled here, for every pair.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is known about an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    AwaitingApproval,
    Authorized,
    Submitted,
    Unknown,
    Pending,
    Confirmed,
    Failed,
    Escalated,
    Cancelled,
}

/// A label that isn't a state: an error with a name, never a panic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such state: {0:?}")]
pub struct UnknownState(pub String);

impl State {
    /// Every state, in the order of a life.
    pub const ALL: [Self; 9] = [
        Self::AwaitingApproval,
        Self::Authorized,
        Self::Submitted,
        Self::Unknown,
        Self::Pending,
        Self::Confirmed,
        Self::Failed,
        Self::Escalated,
        Self::Cancelled,
    ];

    /// The label in SQL, JSON and URLs.
    pub fn label(self) -> &'static str {
        match self {
            Self::AwaitingApproval => "awaiting_approval",
            Self::Authorized => "authorized",
            Self::Submitted => "submitted",
            Self::Unknown => "unknown",
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Failed => "failed",
            Self::Escalated => "escalated",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether evidence has settled it: what the caller needn't ask about again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Confirmed | Self::Failed | Self::Cancelled)
    }

    /// Whether the operation's money counts as spent (rule 11): unknown money is spent money.
    pub fn holds_money(self) -> bool {
        !matches!(self, Self::Failed | Self::Cancelled)
    }

    /// Whether certainly nothing was ever sent.
    pub fn is_before_the_mark(self) -> bool {
        matches!(self, Self::AwaitingApproval | Self::Authorized)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl std::str::FromStr for State {
    type Err = UnknownState;
    fn from_str(label: &str) -> Result<Self, UnknownState> {
        Self::ALL
            .into_iter()
            .find(|state| state.label() == label)
            .ok_or_else(|| UnknownState(label.to_owned()))
    }
}

/// What can happen to an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A person allowed the first send.
    Approved,
    /// A person denied the first send.
    Denied,
    /// It wasn't sent within `send_within`.
    Lapsed,
    /// Something was seen that speaks against the first send: a person must look first.
    HeldBack,
    /// The ledger was restored from a backup, and whether it was sent before can't be found out: a person must look first.
    RestoreInDoubt,
    /// The mark: from here on it may have happened.
    Marked,
    /// Every attempt so far provably did nothing.
    NothingHappened,
    /// The answer to the attempt is lost or says nothing; its sender may be dead.
    AnswerLost,
    /// Proved: it was not and will not be executed.
    Refused,
    /// A verified matching effect exists.
    EffectLive,
    /// The provider holds a verified matching effect and hasn't finished it.
    EffectPending,
    /// The provider says that the matching effect failed or came back.
    EffectFailed,
    /// The provider says that the matching effect failed or came back, and that settles only this one execution: another may
    /// have acted.
    ExecutionFailed,
    /// The machine may not go on by itself.
    Escalated,
    /// People allowed one more send.
    Permitted,
    /// We intend to stop.
    Cancelled,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 16] = [
        Self::Approved,
        Self::Denied,
        Self::Lapsed,
        Self::HeldBack,
        Self::RestoreInDoubt,
        Self::Marked,
        Self::NothingHappened,
        Self::AnswerLost,
        Self::Refused,
        Self::EffectLive,
        Self::EffectPending,
        Self::EffectFailed,
        Self::ExecutionFailed,
        Self::Escalated,
        Self::Permitted,
        Self::Cancelled,
    ];
}

/// What an event does in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// The state changes.
    To(State),
    /// The state changes in a way that somebody must look into: an effect where there should be none.
    ToWithIncident(State),
    /// Known already, or older news: recorded, nothing moves.
    Stay,
}

/// An event that makes no sense in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} can't happen to an operation that is {state}")]
pub struct IllegalEvent {
    pub state: State,
    pub event: Event,
}

/// The one way a state moves.
///
/// # Errors
/// [`IllegalEvent`]: a fault of ours, never of the outside world; evidence from outside is legal in every state.
pub fn transition(state: State, event: Event) -> Result<Transition, IllegalEvent> {
    use State as S;
    use Transition::{Stay, To, ToWithIncident};
    let illegal = Err(IllegalEvent { state, event });
    match event {
        Event::Approved => match state {
            S::AwaitingApproval => Ok(To(S::Authorized)),
            _ => illegal,
        },
        Event::Denied => match state {
            S::AwaitingApproval => Ok(To(S::Cancelled)),
            _ => illegal,
        },
        Event::Lapsed | Event::HeldBack | Event::RestoreInDoubt => match state {
            S::Authorized => Ok(To(S::AwaitingApproval)),
            _ => illegal,
        },
        Event::Marked => match state {
            S::Authorized => Ok(To(S::Submitted)),
            // A resend: what is known doesn't change by asking once more.
            S::Unknown => Ok(Stay),
            _ => illegal,
        },
        // A late report counts in every state, and only these two still wait for it.
        Event::NothingHappened => match state {
            S::Submitted | S::Unknown => Ok(To(S::Authorized)),
            _ => Ok(Stay),
        },
        Event::AnswerLost => match state {
            S::Submitted => Ok(To(S::Unknown)),
            _ => Ok(Stay),
        },
        Event::Refused => match state {
            S::Submitted | S::Unknown | S::Escalated => Ok(To(S::Failed)),
            _ => Ok(Stay),
        },
        Event::EffectLive => match state {
            S::Submitted | S::Unknown | S::Pending | S::Escalated => Ok(To(S::Confirmed)),
            S::AwaitingApproval | S::Authorized | S::Failed | S::Cancelled => {
                Ok(ToWithIncident(S::Confirmed))
            }
            S::Confirmed => Ok(Stay),
        },
        Event::EffectPending => match state {
            S::Submitted | S::Unknown | S::Escalated => Ok(To(S::Pending)),
            S::AwaitingApproval | S::Authorized | S::Failed | S::Cancelled => Ok(ToWithIncident(S::Pending)),
            S::Pending | S::Confirmed => Ok(Stay),
        },
        Event::EffectFailed => match state {
            S::Submitted | S::Unknown | S::Pending | S::Escalated | S::Confirmed => Ok(To(S::Failed)),
            S::AwaitingApproval | S::Authorized | S::Failed | S::Cancelled => Ok(Stay),
        },
        // Whoever was told that it exists must be told that this isn't known any more.
        Event::ExecutionFailed => match state {
            S::Pending | S::Confirmed => Ok(To(S::Unknown)),
            _ => Ok(Stay),
        },
        Event::Escalated => match state {
            S::Unknown => Ok(To(S::Escalated)),
            _ => illegal,
        },
        Event::Permitted => match state {
            S::Escalated => Ok(To(S::Unknown)),
            _ => illegal,
        },
        Event::Cancelled => match state {
            S::AwaitingApproval | S::Authorized => Ok(To(S::Cancelled)),
            // After the mark it only stops further sends; what is settled stays settled.
            _ => Ok(Stay),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Transition::{Stay, To, ToWithIncident};
    use super::*;

    /// One row per event, one column per state in the order of [`State::ALL`]. `None`: illegal.
    #[test]
    fn every_event_in_every_state_does_what_the_mission_says() {
        use State::{
            Authorized, AwaitingApproval, Cancelled, Confirmed, Escalated, Failed, Pending, Submitted,
            Unknown,
        };
        const NO: Option<Transition> = None;
        const STAY: Option<Transition> = Some(Stay);
        let to = |state| Some(To(state));
        let incident = |state| Some(ToWithIncident(state));
        #[rustfmt::skip]
        let table: [(Event, [Option<Transition>; 9]); 16] = [
            //                        awaiting             authorized           submitted       unknown         pending        confirmed   failed               escalated      cancelled
            (Event::Approved,        [to(Authorized),      NO,                  NO,             NO,             NO,            NO,         NO,                  NO,            NO]),
            (Event::Denied,          [to(Cancelled),       NO,                  NO,             NO,             NO,            NO,         NO,                  NO,            NO]),
            (Event::Lapsed,          [NO,                  to(AwaitingApproval),NO,             NO,             NO,            NO,         NO,                  NO,            NO]),
            (Event::HeldBack,        [NO,                  to(AwaitingApproval),NO,             NO,             NO,            NO,         NO,                  NO,            NO]),
            (Event::RestoreInDoubt,  [NO,                  to(AwaitingApproval),NO,             NO,             NO,            NO,         NO,                  NO,            NO]),
            (Event::Marked,          [NO,                  to(Submitted),       NO,             STAY,           NO,            NO,         NO,                  NO,            NO]),
            (Event::NothingHappened, [STAY,                STAY,                to(Authorized), to(Authorized), STAY,          STAY,       STAY,                STAY,          STAY]),
            (Event::AnswerLost,      [STAY,                STAY,                to(Unknown),    STAY,           STAY,          STAY,       STAY,                STAY,          STAY]),
            (Event::Refused,         [STAY,                STAY,                to(Failed),     to(Failed),     STAY,          STAY,       STAY,                to(Failed),    STAY]),
            (Event::EffectLive,      [incident(Confirmed), incident(Confirmed), to(Confirmed),  to(Confirmed),  to(Confirmed), STAY,       incident(Confirmed), to(Confirmed), incident(Confirmed)]),
            (Event::EffectPending,   [incident(Pending),   incident(Pending),   to(Pending),    to(Pending),    STAY,          STAY,       incident(Pending),   to(Pending),   incident(Pending)]),
            (Event::EffectFailed,    [STAY,                STAY,                to(Failed),     to(Failed),     to(Failed),    to(Failed), STAY,                to(Failed),    STAY]),
            (Event::ExecutionFailed, [STAY,                STAY,                STAY,           STAY,           to(Unknown),   to(Unknown),STAY,                STAY,          STAY]),
            (Event::Escalated,       [NO,                  NO,                  NO,             to(Escalated),  NO,            NO,         NO,                  NO,            NO]),
            (Event::Permitted,       [NO,                  NO,                  NO,             NO,             NO,            NO,         NO,                  to(Unknown),   NO]),
            (Event::Cancelled,       [to(Cancelled),       to(Cancelled),       STAY,           STAY,           STAY,          STAY,       STAY,                STAY,          STAY]),
        ];
        assert_eq!(table.map(|(event, _)| event), Event::ALL, "a row for each event, in order");
        for (event, row) in table {
            for (state, expected) in State::ALL.into_iter().zip(row) {
                let expected = expected.ok_or(IllegalEvent { state, event });
                assert_eq!(transition(state, event), expected, "{event:?} in {state}");
            }
        }
    }

    #[test]
    fn labels_come_back_as_the_state_and_others_are_named() {
        for state in State::ALL {
            assert_eq!(state.label().parse(), Ok(state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.label());
        }
        assert_eq!("Unknown".parse::<State>(), Err(UnknownState("Unknown".to_owned())));
    }
}
