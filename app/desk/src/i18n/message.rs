//! Every text that a page can say, by name, with the names of what stands in it.
//!
//! The texts themselves are in [`super::en`] and [`super::zh_hant`]: one total match each, so that a missing one can't compile.

use super::Arg;

macro_rules! messages {
    ($($name:ident $({ $($field:ident),+ })?;)*) => {
        /// Something to be said in any language.
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) enum Message {
            $($name $({ $($field: Arg),+ })?,)*
        }

        impl Message {
            /// What stands in it, by the name that the texts use.
            pub(super) fn args(&self) -> Vec<(&'static str, &Arg)> {
                match self {
                    $(Self::$name $({ $($field),+ })? => vec![$($((stringify!($field), $field)),+)?],)*
                }
            }

            /// One of each.
            #[cfg(test)]
            pub(crate) fn samples() -> Vec<Self> {
                vec![$(Self::$name $({ $($field: Arg::Count(1)),+ })?,)*]
            }
        }
    };
}

messages! {
    // The frame of every page.
    SkipToContent;
    PageTitle { page };
    BandProduction;
    BandDemo;
    BandTestClock { span };
    BandTestClockBack { span };
    NavLabel;
    NavOperations;
    NavHelp;
    LanguageLabel;
    AsOf { time, zone };
    Refresh;

    // States.
    StateAwaitingApproval;
    StateAuthorized;
    StateSubmitted;
    StateUnknown;
    StatePending;
    StateConfirmed;
    StateFailed;
    StateBounced;
    StateEscalated;
    StateCancelled;

    // What each state means, for the glossary.
    MeansAwaitingApproval;
    MeansAuthorized;
    MeansSubmitted;
    MeansUnknown;
    MeansPending;
    MeansConfirmed;
    MeansFailed;
    MeansBounced;
    MeansEscalated;
    MeansCancelled;

    // What is to be done.
    RefundOf { money };
    Refund;
    Lead { what, order, state, since, zone };
    VersionIs { number };

    // Time.
    Ago { span };
    Ahead { span };
    SpanSeconds { seconds };
    SpanMinutes { minutes };
    SpanHours { hours };
    SpanHoursMinutes { hours, minutes };
    SpanDays { days };

    // The list.
    OperationsTitle;
    ViewsLabel;
    ViewAttention;
    ViewUnknown;
    ViewWindowClosing;
    ViewPendingTooLong;
    ViewEscalated;
    ViewAll;
    OpenNow;
    FiltersLabel;
    FilterState;
    FilterKind;
    FilterAccount;
    FilterOrder;
    FilterExternalId;
    FilterFrom;
    FilterTo;
    FilterAny;
    FilterApply;
    FilterClear;
    FilterUnusable { value };
    ListCaption { view, zone };
    ListCaptionNewest { view, zone };
    ColumnState;
    ColumnWhy;
    ColumnOperation;
    ColumnOrder;
    ColumnAmount;
    ColumnProvider;
    ColumnExternalId;
    ColumnAttempts;
    ColumnDeadline;
    ColumnLastChange;
    ColumnNext;
    NoValue;
    WindowClosed;
    DueNow;
    IncidentsMark { count };
    SetAsideMark;
    PagesLabel;
    NextPage;
    FirstPage;
    EmptyNothingYet;
    EmptyAttention;
    EmptyNoMatch;
    EmptySearchedOnly { from, to };
    EmptySearchedFrom { from };
    EmptySearchedTo { to };
    EmptyPage;

    // The reconciler and alarms.
    ReconcilerRan { time, relative, schedule };
    ReconcilerNext { time };
    ReconcilerLate { time, relative };
    ReconcilerNever { schedule };
    AlarmsLabel;
    AlarmUnauthorized { account, since };
    AlarmReadsUnauthorized { account, since };
    AlarmCapturedBelowHeld { payment, since };
    AlarmAccountDown { account, since };
    AlarmClockBehind { since };
    AlarmRowsSetAside { since };
    AlarmRestored { since };
    EveryAccount;

    // The five headings.
    Known;
    NotKnown;
    NextByItself;
    You;
    NotAllowed;

    // Known.
    KnownNotSent { at };
    KnownSendsDidNothing { count };
    KnownHoldRevision { number };
    KnownHoldAboveLimit { together, limit };
    KnownHoldTwin { operation };
    KnownHoldLapsed { span };
    KnownHeldBack;
    KnownHeldForRestore;
    KnownRestored { at };
    KnownMarked { number, at };
    KnownSent { number, at, how, ended };
    KnownSenderGone { number, at };
    KnownLookUp { look_up };
    KnownAbsent { count };
    KnownMismatch { id, fields };
    KnownUnclaimed { ids };
    KnownOneFailed { id, provider };
    KnownEscalated { why, at };
    KnownHeld { id, provider, status };
    KnownExists { id, provider };
    KnownSettledByAnswer { at };
    KnownSettledByLookUp { at };
    KnownSettledByWebhook { at };
    KnownBounced { id, provider, at };
    KnownProviderFailed { id, provider };
    KnownRefused { provider, code };
    KnownRefusedPlain { provider };
    KnownFailureReason { reason };
    KnownContradicted { provider, at };
    KnownWithdrawn { at };
    KnownDenied { at };
    KnownCancelAsked;
    KnownAskedTimes { count };

    // Not known.
    NotKnownNothing;
    NotKnownOnItsWay { provider };
    NotKnownWhether { provider, money };
    NotKnownMismatch { id };
    NotKnownUnclaimed { ids };
    NotKnownPending { provider };
    NotKnownBounce;
    NotKnownWhichEffect;
    NotKnownAgainstState;
    NotKnownCustomerPaid;
    NotKnownContradicted;

    // Next, by itself.
    NextNothingApproval;
    NextSends { provider };
    NextSendsAgainAt { at };
    NextAccountPaused { account };
    NextPaymentBlocked;
    NextTriedAgainAt { at };
    NextAnswerOr { at };
    NextLookUpAt { number, at };
    NextLookUpNow { number };
    NextLookUpFailed { why };
    NextTooEarly;
    NextAbsenceNotProved { walks, needed };
    NextResends;
    NextKeyIsTheQuestion { provider };
    NextRestored { walks, needed };
    NextResendWaitsForClock;
    NextResendWaitsForAccount { account };
    NextResendWaitsForPayment;
    NextStoredFailure;
    NextWaitsForEvidence { provider };
    NextToPersonAt { at };
    NextReadAgainAt { at };
    NextReadAgainNow;
    NextWatchedAt { at };
    NextLooksOnAt { at };
    NextWebhooksOnly;
    NextNothing;
    NextSetAside;

    // You.
    YouNothing;
    YouNothingUntil { at };
    YouApprove;
    YouTwin { operation };
    YouLookFirst { provider };
    YouAccountPaused { account };
    YouPaymentBlocked;
    YouClock;
    YouDecide;
    YouDecideUnclaimed { ids };
    YouDecideMismatch { id };
    YouDecideAbsent;
    YouDecideWalk;
    YouNotElsewhere { provider };
    YouAskProvider { provider, id };
    YouPendingUntil { at };
    YouBounced;
    YouTwoEffects { ids };
    YouAgainstState { id };
    YouRevision;
    YouEngineer;
    ClaimNothingYet;
    ClaimInProgress;
    ClaimDone;
    ClaimNotDone;
    ClaimBounced;

    // Not allowed.
    NotAllowedUnapproved;
    NotAllowedAnotherWay;
    NotAllowedTakeBack;
    NotAllowedResendWhileSending;
    NotAllowedResendUnproved { needed, after };
    NotAllowedResendMayExist { ids };
    NotAllowedResendRuledOut { why };
    NotAllowedResendStoredFailure;
    NotAllowedByHand;
    NotAllowedNewKey;
    NotAllowedOutcome;
    NotAllowedResendHeld;
    NotAllowedResendDone;
    NotAllowedResendSettled;
    NotAllowedWithdrawn;

    // Why a row is with a person.
    EscalatedPageCap;
    EscalatedCursorLoop;
    EscalatedMismatch;
    EscalatedUnclaimedEqual;
    EscalatedRuledOut { why };
    EscalatedTimeIsUp;
    RuledOutCancelAsked;
    RuledOutNoKeys;
    RuledOutSuccessOnly;
    RuledOutWindowClosed;
    RuledOutRestored;
    RuledOutAttemptsUsed;

    // Why / next in the list, short.
    ShortWaitsForApproval;
    ShortReadyToSend;
    ShortSendsAgainLater;
    ShortAccountPaused;
    ShortPaymentBlocked;
    ShortSenderAtWork;
    ShortLooksUpNext;
    ShortLookUpFailed { why };
    ShortTooEarly;
    ShortAbsenceNotProved { walks, needed };
    ShortResends;
    ShortKeyIsTheQuestion;
    ShortRestored { walks, needed };
    ShortResendWaitsForClock;
    ShortResendWaitsForAccount;
    ShortResendWaitsForPayment;
    ShortStoredFailure;
    ShortWaitsForEvidence;
    ShortAtProvider;
    ShortWatched;
    ShortSettled;
    ShortBounced;
    ShortStopped;
    ShortToPerson { why };
    ShortStillWithPerson;

    // How an attempt ended.
    ClassNotSent;
    ClassDeferred;
    ClassRefused;
    ClassEffect;
    ClassNoAnswer;
    ClassNoProof;
    ClassOpen;
    MeansNotSent;
    MeansDeferred;
    MeansRefused;
    MeansEffect;
    MeansIndeterminate;
    WhyConnectFailed;
    WhyDeadlinePassed;
    WhyNotBuilt;
    WhyTimedOut;
    WhyConnectionLost;
    WhyUnauthorized;
    WhyRateLimitNamed;
    WhyRateLimitUnnamed;
    WhyDefiniteRefusal;
    WhyAccepted;
    WhyAlreadyDone;
    WhyKeyReused;
    WhyInFlight;
    WhyLockTimeout;
    WhyServerError;
    WhyRedirected;
    WhyForbidden;
    WhyBodyNotUnderstood;
    WhyEffectMismatch;
    WhyUnlistedAnswer;

    // Why a look-up brought nothing.
    UnavailableNotConnected;
    UnavailableNoAnswer;
    UnavailableUnauthorized;
    UnavailableForbidden;
    UnavailableNotFound;
    UnavailableRateLimited;
    UnavailableServerError;
    UnavailableUnexpectedStatus;
    UnavailableNotWellFormed;
    UnavailableAccountDown;

    // Look-ups.
    LookUpNotFound { at, pages };
    LookUpTooEarly { at, pages };
    LookUpFound { at, pages, ids };
    LookUpFoundPartly { at, ids, doubt };
    LookUpInconclusive { at, doubt };
    LookUpUnavailable { at, why };
    DoubtPageCap;
    DoubtCursorLoop;

    // The operation page.
    OperationTitle { id, state };

    // Facts.
    FactsTitle;
    LimitsTitle;
    FactKind;
    FactAmount;
    FactOrder;
    FactIdentity;
    FactRevision;
    FactTarget;
    FactCustomer;
    FactRequester;
    FactRequesterIs { token, owner };
    FactRequestedBy;
    FactReason;
    FactParams;
    FactAccount;
    FactAccountIs { account, provider, mode, base };
    ModeLive;
    ModeTest;
    FactSendWithin;
    FactSendTimeout;
    FactMaxResends;
    FactTimes { count };
    FactAbsence;
    FactAbsenceIs { count, lag, gap };
    FactEscalateAfter;
    FactRecorded;
    FactUnknownSince;

    // IDs.
    IdsTitle;
    IdOperation;
    IdKey;
    IdMarker;
    IdFirstSent;
    IdWindow;
    IdWindowUntil { at };
    IdWindowClosed { at };
    IdWindowNone;
    IdWindowNoKeys;
    IdIntentHash;
    IdExternal;
    IdConsole { provider };

    // Timeline.
    TimelineTitle;
    TimelineCaption { zone };
    ColumnTime;
    ColumnGap;
    ColumnWhat;
    ColumnWho;
    ColumnChain;
    GapIs { span };
    EntryRecorded { state };
    EntryAsked;
    EntryAskedAgain;
    EntryAskedFor { name };
    EntryAttemptStarted { number, request, deadline };
    EntryAttemptEnded { number, class, why };
    EntryTold { id, status, provider };
    EntryCancelAsked;
    EntryIncident { incident };
    EventApproved;
    EventDenied;
    EventLapsed;
    EventHeldBack;
    EventRestoreInDoubt;
    EventMarked;
    EventNothingHappened;
    EventAnswerLost;
    EventRefused;
    EventEffectLive;
    EventEffectPending;
    EventEffectFailed;
    EventExecutionFailed;
    EventEscalated;
    EventPermitted;
    EventCancelled;
    ActorToken { name };
    ActorPerson { name };
    ActorSender { name };
    ActorReconciler { name };
    ActorProvider { name };

    // Incidents.
    IncidentAgainstState { id, state };
    IncidentTwoEffects { ids };
    IncidentMismatch { id, fields };
    IncidentBounced { id };
    FieldAmount;
    FieldCurrency;
    FieldTarget;

    // Attempts.
    AttemptsTitle;
    AttemptsCaption;
    AttemptsNone;
    ColumnNumber;
    AttemptIs { number };
    ColumnSentAt;
    ColumnDuration;
    ColumnResult;
    ColumnClassWhy;
    ColumnRequestIds;
    HttpStatus { status };
    RequestIdOurs { id };
    RequestIdTheirs { id };
    Replayed;
    StoredFailure;
    ErrorCode { code };
    RequestTitle;
    ResponseDigest { digest };

    // Evidence.
    EvidenceTitle;
    EvidenceNone;
    EvidenceAttempt { number };
    EvidenceLookUp;
    EvidenceWebhook { provider };
    EvidenceAt { at };
    EvidenceSays;
    EvidenceProves;
    EvidenceNotProves;
    SaysEffect { id, status, money };
    SaysClass { class, why };
    ProvesNothing;
    ProvesNotSent { number };
    ProvesDeferred { number };
    ProvesRefused { number };
    ProvesReplayedRefusal;
    ProvesExists { id };
    ProvesHeld { id };
    ProvesFailed { id };
    ProvesAbsenceStep { walks, needed };
    ProvesAbsence;
    ProvesMismatch { id };
    NotProvesOutcome;
    NotProvesOtherSends;
    NotProvesBank;
    NotProvesFinished;
    NotProvesAbsenceEarly { horizon };
    NotProvesAbsence;
    NotProvesAbsenceYet;
    NotProvesUnclaimed { ids };
    NotProvesSecondExecution;
    EvidenceRetries { count };
    EvidenceOthers { count };

    // Effects on the payment.
    EffectsTitle;
    EffectsCaption { payment };
    EffectsNone;
    ColumnHolder;
    ColumnStatus;
    ColumnSeen;
    HolderNobody;
    HolderThis;
    MightBeThis;

    // Related.
    RelatedTitle;
    RelatedRevision;
    RelatedTwin;

    // Raw and proof.
    ProofTitle;
    ProofHead { head, count };
    ProofCommand;
    RawTitle;
    SetAsideTitle;
    SetAsideSays { why };

    // The order page.
    OrderTitle { order };
    OrderPayment { payment, account };
    OrderCustomer { customer };
    OrderSnapshot { at };
    OrderBlocked;
    TotalsTitle;
    TotalsCurrency { currency };
    TotalPaid;
    TotalRefunded;
    TotalInFlight;
    TotalUnknown;
    TotalElsewhere;
    TotalWorst;
    TotalLeft;
    MoreThanPaid { money };
    ItemSend { operation, number };
    ItemUnclaimed { id };
    ItemCaptured { payment };
    WorstIs;
    LeftIs;
    NothingInIt;
    LinesTitle;
    LinesCaption;
    ColumnLine;
    ColumnTitle;
    ColumnQuantity;
    OrderOperationsTitle;
    OrderOperationsCaption;
    OrderNoOperations;
    StreamTitle;
    StreamCaption { zone };

    // Help.
    HelpTitle;
    HelpStates;
    HelpHeadings;
    HelpKnown;
    HelpNotKnown;
    HelpNext;
    HelpYou;
    HelpNotAllowed;
    HelpClasses;
    HelpWords;
    WordOperationId;
    WordOperationIdMeans;
    WordRevision;
    WordRevisionMeans;
    WordKey;
    WordKeyMeans;
    WordWindow;
    WordWindowMeans;
    WordMarker;
    WordMarkerMeans;
    WordEvidence;
    WordEvidenceMeans;
    WordAbsent;
    WordAbsentMeans;
    WordInconclusive;
    WordInconclusiveMeans;
    WordUnavailable;
    WordUnavailableMeans;
    WordWorstCase;
    WordWorstCaseMeans;
    WordOrphan;
    WordOrphanMeans;
    WordTwin;
    WordTwinMeans;
    WordChain;
    WordChainMeans;

    // When there is no such page.
    ProblemNotFound;
    ProblemNotFoundSays;
    ProblemNotAllowed;
    ProblemNotAllowedSays;
    ProblemBadAddress;
    ProblemBadAddressSays;
    ProblemCouldNotLoad;
    ProblemCouldNotLoadSays;
    ProblemSetAsideSays { id, why };
    BackToOperations;
}
