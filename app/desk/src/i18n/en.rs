//! English.

use super::Message;

/// The text of a message; what stands in braces is filled in.
pub(super) fn template(message: &Message) -> &'static str {
    use Message as M;
    match message {
        // The frame of every page.
        M::SkipToContent => "Skip to the content",
        M::PageTitle { .. } => "{page} · Counterfoil",
        M::BandProduction => "PRODUCTION",
        M::BandDemo => "DEMO: simulated provider, no real money",
        M::BandTestClock { .. } => "test clock moved by {span}",
        M::BandTestClockBack { .. } => "test clock moved back by {span}",
        M::NavLabel => "Pages",
        M::NavOperations => "Operations",
        M::NavHelp => "States and words",
        M::LanguageLabel => "Language",
        M::AsOf { .. } => "As of {time} ({zone})",
        M::Refresh => "Refresh",

        // States.
        M::StateAwaitingApproval => "awaiting approval",
        M::StateAuthorized => "ready to send",
        M::StateSubmitted => "sending",
        M::StateUnknown => "unknown",
        M::StatePending => "at provider",
        M::StateConfirmed => "confirmed",
        M::StateFailed => "failed",
        M::StateBounced => "failed: returned",
        M::StateEscalated => "to decide",
        M::StateCancelled => "cancelled, never sent",

        // What each state means, for the glossary.
        M::MeansAwaitingApproval => {
            "Recorded. A person must approve it before it is sent for the first time. It never lapses."
        }
        M::MeansAuthorized => "Recorded and allowed. Certainly nothing has happened yet.",
        M::MeansSubmitted => "Marked before the bytes leave. From here on it may have happened.",
        M::MeansUnknown => {
            "Sent, and nothing proves what happened. Not failed: its money counts as spent, and it is looked up until evidence settles it."
        }
        M::MeansPending => "The provider holds the effect and has not finished it.",
        M::MeansConfirmed => {
            "The effect exists at the provider. It is read again after 1, 3, 7, 14 and 30 days, because a bank can return money."
        }
        M::MeansFailed => {
            "Proved: the effect does not exist and will not. Doing it once more is a new revision."
        }
        M::MeansBounced => "It had been confirmed and came back: the customer does not have the money.",
        M::MeansEscalated => "Unknown, and only a person may act. Look-ups go on, and webhooks are heard.",
        M::MeansCancelled => "Withdrawn or denied before it was ever sent.",

        // What is to be done.
        M::RefundOf { .. } => "Refund of {money}",
        M::Refund => "refund",
        M::Lead { .. } => "{what} for order {order}: {state} since {since} ({zone})",
        M::VersionIs { .. } => "version {number}",

        // Time.
        M::Ago { .. } => "{span} ago",
        M::Ahead { .. } => "in {span}",
        M::SpanSeconds { .. } => "{seconds} s",
        M::SpanMinutes { .. } => "{minutes} min",
        M::SpanHours { .. } => "{hours} h",
        M::SpanHoursMinutes { .. } => "{hours} h {minutes} min",
        M::SpanDays { .. } => "{days} d",

        // The list.
        M::OperationsTitle => "Operations",
        M::ViewsLabel => "Views",
        M::ViewAttention => "Attention",
        M::ViewUnknown => "Unknown",
        M::ViewWindowClosing => "Window closes in 2 h",
        M::ViewPendingTooLong => "Pending too long",
        M::ViewEscalated => "To decide",
        M::ViewAll => "All",
        M::OpenNow => "Open now, all views together",
        M::FiltersLabel => "Filters",
        M::FilterState => "State",
        M::FilterKind => "Kind",
        M::FilterAccount => "Provider account",
        M::FilterOrder => "Order",
        M::FilterExternalId => "External ID",
        M::FilterFrom => "Recorded from",
        M::FilterTo => "Recorded to",
        M::FilterAny => "any",
        M::FilterApply => "Apply",
        M::FilterClear => "Clear filters",
        M::FilterUnusable { .. } => "{value} can't be used here; this filter is not applied.",
        M::ListCaptionNewest { .. } => "{view}: newest first. Times are {zone}.",
        M::ListCaption { .. } => "{view}: what closes soonest comes first. Times are {zone}.",
        M::ColumnState => "State",
        M::ColumnWhy => "Why / next",
        M::ColumnOperation => "Operation",
        M::ColumnOrder => "Order",
        M::ColumnAmount => "Amount",
        M::ColumnProvider => "Provider account",
        M::ColumnExternalId => "External ID",
        M::ColumnAttempts => "Sends",
        M::ColumnDeadline => "Key window ends",
        M::ColumnLastChange => "Last change",
        M::ColumnNext => "Next action",
        M::NoValue => "none",
        M::WindowClosed => "closed",
        M::DueNow => "now",
        M::IncidentsMark { .. } => "incidents: {count}",
        M::SetAsideMark => "set aside",
        M::PagesLabel => "Pages of this list",
        M::NextPage => "Next page",
        M::FirstPage => "First page",
        M::EmptyNothingYet => "Nothing yet. The first operation that is asked for over the API appears here.",
        M::EmptyAttention => "Nothing needs attention.",
        M::EmptyNoMatch => "Nothing matches these filters.",
        M::EmptySearchedOnly { .. } => {
            "Nothing matches. Only what was recorded from {from} to {to} was searched."
        }
        M::EmptySearchedFrom { .. } => "Nothing matches. Only what was recorded from {from} on was searched.",
        M::EmptySearchedTo { .. } => "Nothing matches. Only what was recorded up to {to} was searched.",
        M::EmptyPage => "There are no more rows here: the list has moved on.",

        // The reconciler and alarms.
        M::ReconcilerRan { .. } => "Reconciler last ran {time} ({relative}); schedule {schedule}.",
        M::ReconcilerNext { .. } => "Next {time}.",
        M::ReconcilerLate { .. } => {
            "The reconciler is silent: it last ran {time} ({relative}). Nothing is looked up meanwhile."
        }
        M::ReconcilerNever { .. } => "The reconciler has not run on this ledger yet; schedule {schedule}.",
        M::AlarmsLabel => "Alarms",
        M::AlarmUnauthorized { .. } => {
            "{account}: the provider does not accept our credentials (401) since {since}. Sends of this account are paused."
        }
        M::AlarmReadsUnauthorized { .. } => {
            "{account}: the provider turns our look-ups away (401 or 403) since {since}. Nothing can be found out."
        }
        M::AlarmCapturedBelowHeld { .. } => {
            "{payment}: the shop says that less was captured than is held, since {since}. Nothing is sent on this payment."
        }
        M::AlarmAccountDown { .. } => {
            "{account}: can't be reached since {since}. Rows wait; this is no evidence of anything."
        }
        M::AlarmClockBehind { .. } => {
            "The clock is behind the newest time in the ledger since {since}. Resends wait."
        }
        M::AlarmRowsSetAside { .. } => {
            "Some rows can't be read since {since}. They were set aside; the others go on."
        }
        M::AlarmRestored { .. } => {
            "Restored from a backup, since {since}. Nothing is sent for the first time before it is proved that it was not sent already, until a person ends that."
        }
        M::EveryAccount => "every account",

        // The five headings.
        M::Known => "Known",
        M::NotKnown => "Not known",
        M::NextByItself => "Next, by itself",
        M::You => "You",
        M::NotAllowed => "Not allowed",

        // Known.
        M::KnownNotSent { .. } => "Recorded {at}. Nothing was sent, so nothing can have happened.",
        M::KnownSendsDidNothing { .. } => "Sends so far: {count}. Each of them provably did nothing.",
        M::KnownHoldRevision { .. } => {
            "It waits because it is revision {number}: doing the same thing once more always needs a person."
        }
        M::KnownHoldAboveLimit { .. } => {
            "It waits because this order's refunds in 30 days make {together} with it; the limit is {limit}."
        }
        M::KnownHoldTwin { .. } => "It waits because it looks like {operation} written another way.",
        M::KnownHoldLapsed { .. } => "It waits because it was not sent within {span} of being allowed.",
        M::KnownHeldBack => "It waits because an effect bears our marker that isn't what was intended.",
        M::KnownHeldForRestore => {
            "It waits because the ledger was restored from a backup, and no look-up can tell whether it was sent before."
        }
        M::KnownRestored { .. } => {
            "Recorded {at}. The ledger was restored from a backup, so it may have been sent without standing here."
        }
        M::KnownMarked { .. } => "Send {number} was marked {at}. From then on it may have happened.",
        M::KnownSent { .. } => "Send {number} left us {at}; at {ended}: {how}.",
        M::KnownSenderGone { .. } => "Send {number} was marked {at}, and its sender never reported back.",
        M::KnownLookUp { .. } => "{look_up}",
        M::KnownAbsent { .. } => {
            "Absence is proved: {count} complete look-ups late enough to count did not find it."
        }
        M::KnownMismatch { .. } => "{id} bears our marker and differs in: {fields}.",
        M::KnownUnclaimed { .. } => "Nobody claims {ids} on this payment, and its amount is equal.",
        M::KnownOneFailed { .. } => {
            "{provider} says that {id} failed; another send may have been executed on its own."
        }
        M::KnownEscalated { .. } => "With a person since {at}: {why}.",
        M::KnownHeld { .. } => "{provider} holds it as {id} (status {status}).",
        M::KnownExists { .. } => "It exists at {provider} as {id}.",
        M::KnownSettledByAnswer { .. } => "Settled {at} by the provider's answer.",
        M::KnownSettledByLookUp { .. } => "Settled {at} by a look-up.",
        M::KnownSettledByWebhook { .. } => "Settled {at} by the provider's webhook.",
        M::KnownBounced { .. } => "It existed as {id} and came back: {provider} says so since {at}.",
        M::KnownProviderFailed { .. } => "{provider} says that {id} failed.",
        M::KnownRefused { .. } => "{provider} refused it definitely ({code}).",
        M::KnownRefusedPlain { .. } => "{provider} refused it definitely.",
        M::KnownFailureReason { .. } => "The reason it gives: {reason}.",
        M::KnownContradicted { .. } => "{provider} said both that it exists and that it failed, last {at}.",
        M::KnownWithdrawn { .. } => "Withdrawn {at}, before it was sent.",
        M::KnownDenied { .. } => "Denied by a person {at}, before it was sent.",
        M::KnownCancelAsked => {
            "Somebody asked to stop it after it may have left: that only stops further sends."
        }
        M::KnownAskedTimes { .. } => {
            "It was asked for {count} times. It is one operation, and asking again sends nothing."
        }

        // Not known.
        M::NotKnownNothing => "Nothing.",
        M::NotKnownOnItsWay { .. } => "Whether {provider} has it: it is on its way.",
        M::NotKnownWhether { .. } => "Whether {provider} moved {money}.",
        M::NotKnownMismatch { .. } => "Whether {id} is what was meant.",
        M::NotKnownUnclaimed { .. } => "Whether {ids} is this refund: it bears nobody's marker.",
        M::NotKnownPending { .. } => "Whether {provider} will finish it.",
        M::NotKnownBounce => "Whether the bank returns it: that can take 30 days.",
        M::NotKnownWhichEffect => "Why there is more than one effect, and which of them was meant.",
        M::NotKnownAgainstState => {
            "Who made the effect: we had not sent it, or it had been settled otherwise."
        }
        M::NotKnownCustomerPaid => "How the customer gets the money instead.",
        M::NotKnownContradicted => "Which of the two holds: the effect itself is asked.",

        // Next, by itself.
        M::NextNothingApproval => "Nothing: it waits for a person and never lapses.",
        M::NextSends { .. } => "It is sent to {provider} now.",
        M::NextSendsAgainAt { .. } => "It is sent at {at}; nothing can have happened so far.",
        M::NextAccountPaused { .. } => {
            "Nothing is sent while {account} is paused. It goes by itself once the account works again."
        }
        M::NextPaymentBlocked => "Nothing is sent: less was captured on this payment than operations hold.",
        M::NextTriedAgainAt { .. } => "Tried again {at}.",
        M::NextAnswerOr { .. } => "Its answer arrives, or at {at} the outcome is unknown and look-ups begin.",
        M::NextLookUpAt { .. } => "Look-up {number} at {at} (every refund on the payment).",
        M::NextLookUpNow { .. } => "Look-up {number} now (every refund on the payment).",
        M::NextLookUpFailed { .. } => {
            "The last look-up brought nothing ({why}); that says nothing about the refund."
        }
        M::NextTooEarly => "The last look-up came too early to count.",
        M::NextAbsenceNotProved { .. } => "Complete look-ups that did not find it: {walks} of {needed}.",
        M::NextResends => {
            "It is sent once more with the same key and the same bytes: absence is proved, and the key protects."
        }
        M::NextKeyIsTheQuestion { .. } => {
            "It is sent once more with the same key: {provider} offers no look-up, so the key is the question."
        }
        M::NextRestored { .. } => {
            "Nothing is sent before it is proved that it was not sent before the restore. Complete look-ups that did not find it: {walks} of {needed}."
        }
        M::NextResendWaitsForClock => "A resend waits: the clock is behind the newest time in the ledger.",
        M::NextResendWaitsForAccount { .. } => "A resend waits: {account} is paused.",
        M::NextResendWaitsForPayment => {
            "A resend waits: less was captured on this payment than operations hold."
        }
        M::NextWaitsForEvidence { .. } => {
            "{provider} offers no look-up and nothing is sent again: its word is waited for, then a person decides."
        }
        M::NextStoredFailure => {
            "No resend: the provider keeps its failure under this key and would only return it again."
        }
        M::NextToPersonAt { .. } => "To a person at {at} at the latest.",
        M::NextReadAgainAt { .. } => "Its status is read again {at}.",
        M::NextReadAgainNow => "Its status is read again now.",
        M::NextWatchedAt { .. } => {
            "Read again {at}, in case the bank returned it (after 1, 3, 7, 14 and 30 days)."
        }
        M::NextLooksOnAt { .. } => {
            "Look-ups go on, the next at {at}; webhooks are heard. Evidence may still settle it."
        }
        M::NextWebhooksOnly => "Webhooks are heard; this provider offers no look-up.",
        M::NextNothing => "Nothing.",
        M::NextSetAside => "Nothing: the sweep could not read this row and set it aside.",

        // You.
        M::YouNothing => "Nothing now.",
        M::YouNothingUntil { .. } => "Nothing until {at}.",
        M::YouApprove => "A reviewer decides: approve the first send, or deny it.",
        M::YouTwin { .. } => "Compare it with {operation} first: is it meant twice?",
        M::YouLookFirst { .. } => {
            "Before anybody approves: search the payment on {provider}'s own site for a refund with the marker below."
        }
        M::YouAccountPaused { .. } => {
            "An operator looks after the alarm of {account}. Nothing to do on this operation."
        }
        M::YouPaymentBlocked => "Look at the order: captured was lowered below what is held.",
        M::YouClock => "Correct the clock of the machine that the ledger runs on.",
        M::YouDecide => {
            "Decide. Evidence from the provider's own site settles it: search the payment for a refund with the marker below."
        }
        M::YouDecideUnclaimed { .. } => "Find out who made {ids}. If it is this refund, it has happened.",
        M::YouDecideMismatch { .. } => "Compare {id} with what was intended, field by field.",
        M::YouDecideAbsent => {
            "Absence is proved, and the machine may not send again. People decide what happens now."
        }
        M::YouDecideWalk => {
            "Read the payment's refunds on the provider's own site to the end: the look-up could not."
        }
        M::YouNotElsewhere { .. } => "Do not refund it on {provider}'s site as well.",
        M::YouAskProvider { .. } => "It has been pending too long: ask {provider} about {id}.",
        M::YouPendingUntil { .. } => "Nothing until {at}; after that it counts as pending too long.",
        M::YouBounced => {
            "A person has a task: the customer does not have the money. Paying again is a new revision with its own approval."
        }
        M::YouTwoEffects { .. } => "Look into it: {ids} exist for one operation. More left than was meant.",
        M::YouAgainstState { .. } => "Look into it: {id} exists although it should not.",
        M::YouRevision => "Nothing. If it is still wanted, it is a new revision with its own approval.",
        M::YouEngineer => "An engineer has to look at this row; the error stands above.",
        M::ClaimNothingYet => "The customer may be told: nothing has happened yet.",
        M::ClaimInProgress => "The customer may be told: it is being confirmed.",
        M::ClaimDone => "The customer may be told: it is done.",
        M::ClaimNotDone => "The customer may be told: it did not happen.",
        M::ClaimBounced => "The customer may be told: the money came back and did not reach them.",

        // Not allowed.
        M::NotAllowedUnapproved => "Sending it before a person approves.",
        M::NotAllowedAnotherWay => "Sending it another way: it is sent from here, once.",
        M::NotAllowedTakeBack => "Taking it back: it may have left. Cancelling now only stops further sends.",
        M::NotAllowedResendWhileSending => "Sending it again: it is being sent right now.",
        M::NotAllowedResendUnproved { .. } => {
            "Sending it again: absence isn't proved yet (it needs {needed} complete look-ups after {after})."
        }
        M::NotAllowedResendMayExist { .. } => "Sending it again: {ids} may be this refund.",
        M::NotAllowedResendRuledOut { .. } => "Sending it again by the machine: {why}.",
        M::NotAllowedResendStoredFailure => "Sending it again: the same key only returns the stored failure.",
        M::NotAllowedByHand => "Sending it again by hand: only the reconciler does that, under the same key.",
        M::NotAllowedNewKey => {
            "A new request for the same thing: under another key the money may move twice."
        }
        M::NotAllowedOutcome => "Writing down an outcome: only evidence moves the state.",
        M::NotAllowedResendHeld => "Sending it again: the provider has it.",
        M::NotAllowedResendDone => "Sending it again: it is done. Making up for it is another operation.",
        M::NotAllowedResendSettled => "Sending it again under this Operation ID: it is settled.",
        M::NotAllowedWithdrawn => "Sending it: it was withdrawn.",

        // Why a row is with a person.
        M::EscalatedPageCap => "the look-up reached its page limit, so it read not everything",
        M::EscalatedCursorLoop => "the look-up's pages went in a circle, so it read not everything",
        M::EscalatedMismatch => "an effect bears our marker and differs from the intent",
        M::EscalatedUnclaimedEqual => "an effect of equal amount on the payment is claimed by nobody",
        M::EscalatedRuledOut { .. } => "absence is proved, and sending again is ruled out: {why}",
        M::EscalatedTimeIsUp => "time is up, and nothing proved what happened",
        M::RuledOutCancelAsked => "somebody asked to stop it",
        M::RuledOutNoKeys => "the provider has no idempotency keys",
        M::RuledOutSuccessOnly => {
            "the provider keeps keys for successes only, and the lost answer may have been none"
        }
        M::RuledOutWindowClosed => "the window in which the same key is safe has closed",
        M::RuledOutRestored => {
            "it was sent before the ledger was restored from a backup, which may not know every send"
        }
        M::RuledOutAttemptsUsed => "all allowed sends are used up",

        // Why / next in the list, short.
        M::ShortWaitsForApproval => "waits for a person",
        M::ShortReadyToSend => "goes out now",
        M::ShortSendsAgainLater => "turned away or not sent; goes again",
        M::ShortAccountPaused => "account paused",
        M::ShortPaymentBlocked => "less captured than held",
        M::ShortSenderAtWork => "on its way",
        M::ShortLooksUpNext => "sent, no answer; look-up next",
        M::ShortLookUpFailed { .. } => "look-up failed: {why}",
        M::ShortTooEarly => "not found; too early to count",
        M::ShortAbsenceNotProved { .. } => "not found {walks} of {needed} times needed",
        M::ShortResends => "absent; sent again under the same key",
        M::ShortKeyIsTheQuestion => "no look-up; asks with the same key",
        M::ShortRestored { .. } => "restored from a backup; not found {walks} of {needed} times needed",
        M::ShortResendWaitsForClock => "resend waits: clock behind",
        M::ShortResendWaitsForAccount => "resend waits: account paused",
        M::ShortResendWaitsForPayment => "resend waits: less captured than held",
        M::ShortWaitsForEvidence => "no look-up, no resend; waits for the provider's word",
        M::ShortStoredFailure => "stored failure; looks up, never resends",
        M::ShortAtProvider => "provider has not finished",
        M::ShortWatched => "watched: a bank may return it",
        M::ShortSettled => "settled",
        M::ShortBounced => "came back: the customer does not have it",
        M::ShortStopped => "stopped before sending",
        M::ShortToPerson { .. } => "{why}",
        M::ShortStillWithPerson => "with a person; looks on",

        // How an attempt ended.
        M::ClassNotSent => "not sent",
        M::ClassDeferred => "turned away",
        M::ClassRefused => "refused",
        M::ClassEffect => "answered with the effect",
        M::ClassNoAnswer => "sent, no answer",
        M::ClassNoProof => "answered, proves nothing",
        M::ClassOpen => "on its way",
        M::MeansNotSent => "Provably nothing left. It may go again at once.",
        M::MeansDeferred => "Provably turned away before execution: goes back to the outbox.",
        M::MeansRefused => "Provably will not be executed: the answer is on the list of definite refusals.",
        M::MeansEffect => "The answer carries the effect, and marker, amount, currency and target are right.",
        M::MeansIndeterminate => {
            "Everything else: a time-out, a cut connection, a 5xx. It may have happened."
        }
        M::WhyConnectFailed => "no connection came about",
        M::WhyDeadlinePassed => "the deadline had passed before the first byte",
        M::WhyNotBuilt => "the request could not be built",
        M::WhyTimedOut => "no answer arrived in time",
        M::WhyConnectionLost => "the connection was cut",
        M::WhyUnauthorized => "our credentials were not accepted (401)",
        M::WhyRateLimitNamed => "the provider's rate limit, by name",
        M::WhyRateLimitUnnamed => "429 that doesn't say which limit",
        M::WhyDefiniteRefusal => "a definite refusal",
        M::WhyAccepted => "accepted",
        M::WhyAlreadyDone => "the provider says it is done already; that may be our effect",
        M::WhyKeyReused => "the provider has this key with other parameters",
        M::WhyInFlight => "the provider is at work on the same key",
        M::WhyLockTimeout => "the provider could not lock the object in time",
        M::WhyServerError => "the provider's server failed (5xx)",
        M::WhyRedirected => "redirected (3xx), not followed",
        M::WhyForbidden => "forbidden (403); it may come from something in between",
        M::WhyBodyNotUnderstood => "the answer's body could not be understood",
        M::WhyEffectMismatch => "the answer's effect isn't what was intended",
        M::WhyUnlistedAnswer => "an answer that is on no list",

        // Why a look-up brought nothing.
        M::UnavailableNotConnected => "no connection",
        M::UnavailableNoAnswer => "no answer",
        M::UnavailableUnauthorized => "credentials not accepted (401)",
        M::UnavailableForbidden => "forbidden (403)",
        M::UnavailableNotFound => "the payment was not found (404); that is no proof of absence",
        M::UnavailableRateLimited => "rate limited (429)",
        M::UnavailableServerError => "server error (5xx)",
        M::UnavailableUnexpectedStatus => "an unexpected status",
        M::UnavailableNotWellFormed => "an answer that isn't well-formed",
        M::UnavailableAccountDown => "the account has been failing; a probe is not due yet",

        // Look-ups.
        M::LookUpNotFound { .. } => "Look-up {at}: complete (pages: {pages}), not found.",
        M::LookUpTooEarly { .. } => "Look-up {at}: complete (pages: {pages}), not found; too early to count.",
        M::LookUpFound { .. } => "Look-up {at}: complete (pages: {pages}), saw {ids}.",
        M::LookUpFoundPartly { .. } => "Look-up {at}: saw {ids}; not complete: {doubt}.",
        M::LookUpInconclusive { .. } => "Look-up {at}: inconclusive, {doubt}.",
        M::LookUpUnavailable { .. } => "Look-up {at}: unavailable, {why}.",
        M::DoubtPageCap => "page limit reached",
        M::DoubtCursorLoop => "pages went in a circle",

        // The operation page.
        M::OperationTitle { .. } => "{id}: {state}",

        // Facts.
        M::FactsTitle => "Facts",
        M::LimitsTitle => "Limits in force",
        M::FactKind => "Kind",
        M::FactAmount => "Amount",
        M::FactOrder => "Order",
        M::FactIdentity => "Identity",
        M::FactRevision => "Revision",
        M::FactTarget => "Payment",
        M::FactCustomer => "Customer",
        M::FactRequester => "Requester",
        M::FactRequesterIs { .. } => "token {token}, owned by {owner}",
        M::FactRequestedBy => "Requested by, says the shop",
        M::FactReason => "Reason given",
        M::FactParams => "Parameters given",
        M::FactAccount => "Provider account",
        M::FactAccountIs { .. } => "{account}: {provider}, {mode}, {base}",
        M::ModeLive => "live",
        M::ModeTest => "test",
        M::FactSendWithin => "Must be sent within",
        M::FactSendTimeout => "One send takes at most",
        M::FactMaxResends => "Resends at most",
        M::FactTimes { .. } => "{count}",
        M::FactAbsence => "Absence is proved by",
        M::FactAbsenceIs { .. } => {
            "complete look-ups: {count}, {gap} apart, begun {lag} after the send's deadline"
        }
        M::FactEscalateAfter => "To a person after",
        M::FactRecorded => "Recorded",
        M::FactUnknownSince => "First unknown",

        // IDs.
        M::IdsTitle => "Identifiers",
        M::IdOperation => "Operation ID",
        M::IdKey => "Idempotency key",
        M::IdMarker => "Marker",
        M::IdFirstSent => "First send",
        M::IdWindow => "Key window",
        M::IdWindowUntil { .. } => "open until {at}",
        M::IdWindowClosed { .. } => "closed since {at}",
        M::IdWindowNone => "not open: nothing can have arrived",
        M::IdWindowNoKeys => "none: this provider has no keys",
        M::IdIntentHash => "Intent hash",
        M::IdExternal => "External ID",
        M::IdConsole { .. } => "open at {provider}",

        // Timeline.
        M::TimelineTitle => "Timeline",
        M::TimelineCaption { .. } => {
            "Every entry, oldest first. Times are {zone}; UTC stands beside them in print."
        }
        M::ColumnTime => "Time",
        M::ColumnGap => "Gap",
        M::ColumnWhat => "What",
        M::ColumnWho => "Who",
        M::ColumnChain => "Chain",
        M::GapIs { .. } => "+{span}",
        M::EntryRecorded { .. } => "Recorded as {state}",
        M::EntryAsked => "Asked for",
        M::EntryAskedAgain => "Asked for again; nothing was sent",
        M::EntryAskedFor { .. } => "requested by {name}",
        M::EntryAttemptStarted { .. } => {
            "Send {number} marked; client request ID {request}; until {deadline}"
        }
        M::EntryAttemptEnded { .. } => "Send {number}: {class}; {why}",
        M::EntryTold { .. } => "{provider} told us: {id} is {status}",
        M::EntryCancelAsked => "Stop asked for",
        M::EntryIncident { .. } => "Incident: {incident}",
        M::EventApproved => "a person approved the first send",
        M::EventDenied => "a person denied the first send",
        M::EventLapsed => "it was not sent in time",
        M::EventHeldBack => {
            "an effect that does not match was seen; it must be approved again before it is sent"
        }
        M::EventRestoreInDoubt => {
            "after a restore no look-up can tell whether it was sent before; it must be approved again before it is sent"
        }
        M::EventMarked => "marked before the bytes left",
        M::EventNothingHappened => "every send so far provably did nothing",
        M::EventAnswerLost => "the answer is lost or proves nothing",
        M::EventRefused => "proved: it will not be executed",
        M::EventEffectLive => "a verified effect exists",
        M::EventEffectPending => "the provider holds it",
        M::EventEffectFailed => "the provider says that it failed or came back",
        M::EventExecutionFailed => "one execution failed, which does not prove what became of the others",
        M::EventEscalated => "only a person may go on",
        M::EventPermitted => "people allowed one more send",
        M::EventCancelled => "withdrawn",
        M::ActorToken { .. } => "token {name}",
        M::ActorPerson { .. } => "person {name}",
        M::ActorSender { .. } => "sender {name}",
        M::ActorReconciler { .. } => "reconciler {name}",
        M::ActorProvider { .. } => "provider {name}",

        // Incidents.
        M::IncidentAgainstState { .. } => "{id} exists although the operation was {state}",
        M::IncidentTwoEffects { .. } => "more than one effect: {ids}",
        M::IncidentMismatch { .. } => "{id} bears our marker and differs in: {fields}",
        M::IncidentBounced { .. } => "{id} came back: the customer does not have the money",
        M::FieldAmount => "amount",
        M::FieldCurrency => "currency",
        M::FieldTarget => "payment",

        // Attempts.
        M::AttemptsTitle => "Sends",
        M::AttemptsCaption => "Each send, with what it told us.",
        M::AttemptsNone => "Nothing was sent so far.",
        M::ColumnNumber => "No.",
        M::AttemptIs { .. } => "{number}",
        M::ColumnSentAt => "Marked",
        M::ColumnDuration => "Took",
        M::ColumnResult => "Result",
        M::ColumnClassWhy => "Class and why",
        M::ColumnRequestIds => "Request IDs",
        M::HttpStatus { .. } => "HTTP {status}",
        M::RequestIdOurs { .. } => "ours {id}",
        M::RequestIdTheirs { .. } => "theirs {id}",
        M::Replayed => "replayed: it speaks for the first execution",
        M::StoredFailure => "stored under the key",
        M::ErrorCode { .. } => "code {code}",
        M::RequestTitle => "The request, the same bytes in every send",
        M::ResponseDigest { .. } => "SHA-256 of the raw answer: {digest}",

        // Evidence.
        M::EvidenceTitle => "Evidence",
        M::EvidenceNone => "No evidence so far.",
        M::EvidenceAttempt { .. } => "Answer to send {number}",
        M::EvidenceLookUp => "Look-up",
        M::EvidenceWebhook { .. } => "Webhook of {provider}",
        M::EvidenceAt { .. } => "received {at}",
        M::EvidenceSays => "Says",
        M::EvidenceProves => "Proves",
        M::EvidenceNotProves => "Doesn't prove",
        M::SaysEffect { .. } => "{id}, status {status}, {money}",
        M::SaysClass { .. } => "{class}: {why}",
        M::ProvesNothing => "nothing",
        M::ProvesNotSent { .. } => "that send {number} did nothing",
        M::ProvesDeferred { .. } => "that send {number} was turned away before execution",
        M::ProvesRefused { .. } => "that send {number} will not be executed",
        M::ProvesReplayedRefusal => "that the first execution was refused",
        M::ProvesExists { .. } => "that {id} exists",
        M::ProvesHeld { .. } => "that the provider holds {id}",
        M::ProvesFailed { .. } => "that {id} failed or came back",
        M::ProvesAbsenceStep { .. } => "one more look-up towards absence: {walks} of {needed}",
        M::ProvesAbsence => "that no effect of the sends so far exists",
        M::ProvesMismatch { .. } => "that {id} bears our marker and isn't what was intended",
        M::NotProvesOutcome => "whether it happened",
        M::NotProvesOtherSends => "anything about other sends",
        M::NotProvesBank => "that it stays: a bank can return it for 30 days",
        M::NotProvesFinished => "that it will be finished",
        M::NotProvesAbsenceEarly { .. } => "absence: only look-ups begun after {horizon} count",
        M::NotProvesAbsence => "absence: not everything was read",
        M::NotProvesAbsenceYet => "absence: it is too few look-ups",
        M::NotProvesUnclaimed { .. } => "that {ids} is this refund",
        M::NotProvesSecondExecution => "that no other send was executed on its own",
        M::EvidenceRetries { .. } => "reads tried again: {count}",
        M::EvidenceOthers { .. } => "other effects on the payment: {count}",

        // Effects on the payment.
        M::EffectsTitle => "Refunds on this payment",
        M::EffectsCaption { .. } => "Everything that was seen on {payment}, ours or not.",
        M::EffectsNone => "None was seen on this payment so far.",
        M::ColumnHolder => "Claimed by",
        M::ColumnStatus => "Provider's status",
        M::ColumnSeen => "Last seen",
        M::HolderNobody => "nobody",
        M::HolderThis => "this operation",
        M::MightBeThis => "might be this one",

        // Related.
        M::RelatedTitle => "Related",
        M::RelatedRevision => "revision",
        M::RelatedTwin => "might be the same thing",

        // Raw and proof.
        M::ProofTitle => "Proof",
        M::ProofHead { .. } => "Chain head {head} after {count} entries.",
        M::ProofCommand => "To check that nothing was edited or removed, run:",
        M::RawTitle => "Raw JSON: intent, facts and entries, times in UTC",
        M::SetAsideTitle => "Set aside",
        M::SetAsideSays { .. } => "The sweep can't read this row: {why}",

        // The order page.
        M::OrderTitle { .. } => "Order {order}",
        M::OrderPayment { .. } => "Payment {payment} at {account}",
        M::OrderCustomer { .. } => "Customer {customer}",
        M::OrderSnapshot { .. } => "Snapshot of the shop: {at}",
        M::OrderBlocked => "Less was captured than is held: nothing new is sent on this payment.",
        M::TotalsTitle => "Totals",
        M::TotalsCurrency { .. } => "Totals in {currency}",
        M::TotalPaid => "Paid",
        M::TotalRefunded => "Refunded",
        M::TotalInFlight => "In flight",
        M::TotalUnknown => "Unknown",
        M::TotalElsewhere => "Held by other orders",
        M::TotalWorst => "Worst case",
        M::TotalLeft => "Left",
        M::MoreThanPaid { .. } => "more than was paid, by {money}",
        M::ItemSend { .. } => "{operation}, send {number}: it may have been executed on its own",
        M::ItemUnclaimed { .. } => "{id}: nobody claims it",
        M::ItemCaptured { .. } => "captured on {payment}",
        M::WorstIs => {
            "refunded, in flight and unknown, and one more amount for each send that may have been executed on its own"
        }
        M::LeftIs => "paid less everything that is held; never below 0",
        M::NothingInIt => "nothing",
        M::LinesTitle => "Lines",
        M::LinesCaption => "As the shop sent them.",
        M::ColumnLine => "Line",
        M::ColumnTitle => "Title",
        M::ColumnQuantity => "Quantity",
        M::OrderOperationsTitle => "Operations",
        M::OrderOperationsCaption => "Every operation of this order, revisions too, oldest first.",
        M::OrderNoOperations => "No operation was asked for on this order.",
        M::StreamTitle => "Everything that happened",
        M::StreamCaption { .. } => {
            "All entries of all operations in one stream, oldest first. Times are {zone}."
        }

        // Help.
        M::HelpTitle => "States and words",
        M::HelpStates => "States",
        M::HelpHeadings => "The five headings of an operation",
        M::HelpKnown => "What evidence shows. Nothing else stands there.",
        M::HelpNotKnown => "What no evidence shows yet. A lost answer is no evidence that it failed.",
        M::HelpNext => "What the machine does without anybody, and when.",
        M::HelpYou => "What a person has to do, or when to look again.",
        M::HelpNotAllowed => "What nobody may do now, and why.",
        M::HelpClasses => "What one send can tell",
        M::HelpWords => "Words",
        M::WordOperationId => "Operation ID",
        M::WordOperationIdMeans => {
            "Computed from what is to be done, never random. Whoever asks again computes the same one."
        }
        M::WordRevision => "Revision",
        M::WordRevisionMeans => {
            "The same thing legitimately done again: a new operation with its own approval."
        }
        M::WordKey => "Idempotency key",
        M::WordKeyMeans => {
            "Sent with every send of an operation, always the same. The provider recognises it and does not act twice."
        }
        M::WordWindow => "Key window",
        M::WordWindowMeans => {
            "How long the provider promises to recognise the key, from the first send that may have arrived. After it, sending again may refund twice."
        }
        M::WordMarker => "Marker",
        M::WordMarkerMeans => "Written into the provider's record, so that the effect can be found again.",
        M::WordEvidence => "Evidence",
        M::WordEvidenceMeans => {
            "Anything from outside that says something about the effect. Only evidence moves a state."
        }
        M::WordAbsent => "Look-up: absent",
        M::WordAbsentMeans => {
            "A complete walk over a reliable list, late enough and often enough, that did not find it."
        }
        M::WordInconclusive => "Look-up: inconclusive",
        M::WordInconclusiveMeans => "Read, but too early or not to the end. It counts for nothing.",
        M::WordUnavailable => "Look-up: unavailable",
        M::WordUnavailableMeans => "It could not be read. That is never evidence of absence.",
        M::WordWorstCase => "Worst case",
        M::WordWorstCaseMeans => {
            "Everything that may have left or may still leave. Unknown money counts as spent."
        }
        M::WordOrphan => "Nobody's effect",
        M::WordOrphanMeans => "An effect at the provider that no operation claims.",
        M::WordTwin => "Twin",
        M::WordTwinMeans => {
            "It looks like another operation on the same payment and amount, written another way."
        }
        M::WordChain => "Chain",
        M::WordChainMeans => "Every entry carries the hash of the one before, so an edit or a removal shows.",

        // When there is no such page.
        M::ProblemNotFound => "Not found",
        M::ProblemNotFoundSays => {
            "There is no such page, operation or order in this ledger. Identifiers are compared byte for byte: 1043 and 01043 are two orders."
        }
        M::ProblemNotAllowed => "Not allowed",
        M::ProblemNotAllowedSays => "You may not see this.",
        M::ProblemBadAddress => "This address can't be used",
        M::ProblemBadAddressSays => {
            "Its page mark isn't one that this list gave out. Start again from the first page."
        }
        M::ProblemCouldNotLoad => "Could not load",
        M::ProblemCouldNotLoadSays => {
            "The ledger could not be read just now. Nothing was changed; no outcome follows from this page."
        }
        M::ProblemSetAsideSays { .. } => {
            "{id} can't be read back, and the sweep set it aside: {why}. Its outcome is what it was; nothing follows from this page. An engineer has to look at it."
        }
        M::BackToOperations => "To the operations",
    }
}

/// What stands between the items of a list.
pub(super) const BETWEEN: &str = ", ";

/// A moment that isn't today: with weekday and date, and the year unless it is this one.
pub(super) fn dated(date: jiff::civil::Date, this_year: bool, time: &str) -> String {
    let day = date.strftime(if this_year { "%a %-d %b" } else { "%a %-d %b %Y" });
    format!("{day} {time}")
}
