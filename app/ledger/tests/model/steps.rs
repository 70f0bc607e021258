//! What can happen, told so that a shrunk failure reads like a story.

use std::fmt;

use counterfoil_ledger::evidence::EffectStatus;
use counterfoil_ledger::state::State;
use proptest::prelude::*;

use crate::provider::{Behaviour, Keys, Listing};

/// How the world is made. The account's policy says of it what is true.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) keys: Keys,
    /// `None`: the provider offers no look-up.
    pub(crate) listing: Option<Listing>,
    pub(crate) begins: State,
    /// The key is kept for twenty minutes instead of a day.
    pub(crate) short_window: bool,
    /// A person must act after ten days of unknown instead of 20 hours, so that the window alone decides.
    pub(crate) patient: bool,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { keys, listing, begins, short_window, patient } = self;
        write!(f, "a refund that is {begins}, at a provider with keys {keys:?} and ")?;
        match listing {
            None => f.write_str("no look-up")?,
            Some(listing) => write!(f, "look-ups {listing:?}")?,
        }
        if *short_window {
            f.write_str(", keys kept for 20 minutes")?;
        }
        if *patient {
            f.write_str(", ten days' patience")?;
        }
        Ok(())
    }
}

/// What becomes of a sender, of its request and of its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    AllGoesWell,
    AnswerLost,
    DiesBeforeTheMark,
    DiesAfterTheMark,
    SleepsPastItsDeadline,
    CannotConnect,
    RequestLost,
    RequestArrivesLate,
    DiesWithTheAnswer,
    ReportsLate,
}

/// What happens if it comes to a send, and when an asked look-up comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fortune {
    pub(crate) sender: Fate,
    pub(crate) provider: Behaviour,
    pub(crate) look_up_returns_later: bool,
}

impl Fortune {
    pub(crate) const GOOD: Self =
        Self { sender: Fate::AllGoesWell, provider: Behaviour::Executes, look_up_returns_later: false };
}

impl fmt::Debug for Fortune {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::GOOD {
            return f.write_str("all goes well");
        }
        let sender = match self.sender {
            Fate::AllGoesWell => "the answer comes back",
            Fate::AnswerLost => "the answer is lost",
            Fate::DiesBeforeTheMark => "the sender dies before the mark",
            Fate::DiesAfterTheMark => "the sender dies after the mark, before a byte leaves",
            Fate::SleepsPastItsDeadline => "the sender sleeps past its deadline and sends nothing",
            Fate::CannotConnect => "the connection is refused",
            Fate::RequestLost => "the request is lost on the way",
            Fate::RequestArrivesLate => "the request arrives after the sender gave up",
            Fate::DiesWithTheAnswer => "the sender dies with the answer in its hands",
            Fate::ReportsLate => "the answer is written down late",
        };
        write!(f, "if it is sent: {sender}, provider {:?}", self.provider)?;
        if self.look_up_returns_later {
            f.write_str("; if it is looked up: the result comes later")?;
        }
        Ok(())
    }
}

/// One thing that happens.
#[derive(Clone)]
pub(crate) enum Step {
    TimePasses { seconds: u32 },
    DueTimeComes(Fortune),
    DaemonComesBy(Fortune),
    CallerAsksAgain(Fortune),
    CallerCancels,
    ReviewerApproves,
    ReviewerDenies,
    TwoPeoplePermitALateResend(Fortune),
    WebhookArrives { nth: usize, will_be_repeated: bool },
    LateReportArrives { nth: usize },
    LateLookUpReturns { nth: usize },
    ProviderMoves { nth: usize, to: EffectStatus },
    ClockIsSet { seconds: i32 },
    SomebodyRefundsByHand { equal: bool },
    LookUpsTurn(Listing),
    AccountIsPaused(bool),
    PaymentIsBlocked(bool),
    BackupIsTaken,
    BackupIsRestored,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimePasses { seconds } => write!(f, "{seconds} s pass"),
            Self::DueTimeComes(fortune) => write!(f, "time passes until something is due; {fortune:?}"),
            Self::DaemonComesBy(fortune) => write!(f, "the daemon comes by; {fortune:?}"),
            Self::CallerAsksAgain(fortune) => write!(f, "the caller asks again; {fortune:?}"),
            Self::CallerCancels => f.write_str("the caller cancels"),
            Self::ReviewerApproves => f.write_str("a reviewer approves"),
            Self::ReviewerDenies => f.write_str("a reviewer denies"),
            Self::TwoPeoplePermitALateResend(fortune) => {
                write!(f, "two people permit a late resend; {fortune:?}")
            }
            Self::WebhookArrives { nth, will_be_repeated: false } => write!(f, "webhook {nth} arrives"),
            Self::WebhookArrives { nth, will_be_repeated: true } => {
                write!(f, "webhook {nth} arrives, and will come again")
            }
            Self::LateReportArrives { nth } => write!(f, "late report {nth} is written down"),
            Self::LateLookUpReturns { nth } => write!(f, "late look-up {nth} is written down"),
            Self::ProviderMoves { nth, to } => write!(f, "the provider moves effect {nth} to {to:?}"),
            Self::ClockIsSet { seconds } if *seconds < 0 => {
                write!(f, "the clock is set back by {} s", -seconds)
            }
            Self::ClockIsSet { seconds } => write!(f, "the clock is set forward by {seconds} s"),
            Self::SomebodyRefundsByHand { equal: true } => {
                f.write_str("somebody refunds the same amount by hand")
            }
            Self::SomebodyRefundsByHand { equal: false } => {
                f.write_str("somebody refunds another amount by hand")
            }
            Self::LookUpsTurn(listing) => write!(f, "look-ups turn {listing:?}"),
            Self::AccountIsPaused(true) => f.write_str("the account is paused"),
            Self::AccountIsPaused(false) => f.write_str("the account goes on"),
            Self::PaymentIsBlocked(true) => f.write_str("the payment is blocked"),
            Self::PaymentIsBlocked(false) => f.write_str("the payment is free again"),
            Self::BackupIsTaken => f.write_str("a backup is taken"),
            Self::BackupIsRestored => f.write_str("the last backup is restored"),
        }
    }
}

fn keys() -> impl Strategy<Value = Keys> {
    prop_oneof![
        3 => Just(Keys::PrunedAtTheWindowsEnd),
        2 => Just(Keys::KeptForEver),
        1 => Just(Keys::KeptOnSuccessOnly),
        1 => Just(Keys::Ignored),
    ]
}

fn listing() -> impl Strategy<Value = Listing> {
    prop_oneof![
        4 => Just(Listing::Complete),
        2 => Just(Listing::Lagging),
        2 => Just(Listing::Down),
        1 => Just(Listing::Capped),
        1 => Just(Listing::Looping),
    ]
}

pub(crate) fn setup() -> impl Strategy<Value = Setup> {
    let listing = prop_oneof![5 => listing().prop_map(Some), 1 => Just(None)];
    let begins = prop_oneof![8 => Just(State::Authorized), 1 => Just(State::AwaitingApproval)];
    (keys(), listing, begins, any::<bool>(), any::<bool>()).prop_map(
        |(keys, listing, begins, short_window, patient)| Setup {
            keys,
            listing,
            begins,
            short_window,
            patient,
        },
    )
}

fn fortune() -> impl Strategy<Value = Fortune> {
    let sender = prop_oneof![
        3 => Just(Fate::AllGoesWell),
        4 => Just(Fate::AnswerLost),
        1 => Just(Fate::DiesBeforeTheMark),
        1 => Just(Fate::DiesAfterTheMark),
        1 => Just(Fate::SleepsPastItsDeadline),
        1 => Just(Fate::CannotConnect),
        2 => Just(Fate::RequestLost),
        2 => Just(Fate::RequestArrivesLate),
        1 => Just(Fate::DiesWithTheAnswer),
        2 => Just(Fate::ReportsLate),
    ];
    let provider = prop_oneof![
        6 => Just(Behaviour::Executes),
        2 => Just(Behaviour::ExecutesSlowly),
        1 => any::<bool>().prop_map(|kept| Behaviour::Refuses { kept }),
        1 => Just(Behaviour::TurnsAway),
        2 => any::<bool>().prop_map(|applied| Behaviour::Answers500 { applied }),
        1 => Just(Behaviour::Answers500BeforeTheKey),
        1 => Just(Behaviour::ExecutesTheWrongAmount),
        1 => Just(Behaviour::ExecutesTwice),
    ];
    let later = prop_oneof![5 => Just(false), 1 => Just(true)];
    (sender, provider, later).prop_map(|(sender, provider, look_up_returns_later)| Fortune {
        sender,
        provider,
        look_up_returns_later,
    })
}

fn moved_to() -> impl Strategy<Value = EffectStatus> {
    prop_oneof![2 => Just(EffectStatus::Live), 2 => Just(EffectStatus::Failed)]
}

fn nth() -> impl Strategy<Value = usize> {
    0_usize..4
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let seconds = prop_oneof![4 => 1_u32..120, 2 => 120_u32..7200, 1 => 7200_u32..200_000];
    let set = prop_oneof![2 => -4000_i32..-11, 2 => 1_i32..4000, 1 => Just(-7200), 1 => Just(90_000), 1 => Just(-90_000)];
    prop_oneof![
        12 => fortune().prop_map(Step::DueTimeComes),
        6 => seconds.prop_map(|seconds| Step::TimePasses { seconds }),
        6 => fortune().prop_map(Step::DaemonComesBy),
        3 => fortune().prop_map(Step::CallerAsksAgain),
        1 => Just(Step::CallerCancels),
        1 => Just(Step::ReviewerApproves),
        1 => Just(Step::ReviewerDenies),
        4 => fortune().prop_map(Step::TwoPeoplePermitALateResend),
        4 => (nth(), any::<bool>())
            .prop_map(|(nth, will_be_repeated)| Step::WebhookArrives { nth, will_be_repeated }),
        3 => nth().prop_map(|nth| Step::LateReportArrives { nth }),
        2 => nth().prop_map(|nth| Step::LateLookUpReturns { nth }),
        2 => (nth(), moved_to()).prop_map(|(nth, to)| Step::ProviderMoves { nth, to }),
        1 => set.prop_map(|seconds| Step::ClockIsSet { seconds }),
        1 => any::<bool>().prop_map(|equal| Step::SomebodyRefundsByHand { equal }),
        2 => listing().prop_map(Step::LookUpsTurn),
        1 => any::<bool>().prop_map(Step::AccountIsPaused),
        1 => any::<bool>().prop_map(Step::PaymentIsBlocked),
        2 => Just(Step::BackupIsTaken),
        2 => Just(Step::BackupIsRestored),
    ]
}
