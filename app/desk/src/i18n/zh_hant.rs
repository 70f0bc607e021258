//! 繁體中文, as people in Taiwan write it. The words for states and headings are those of `desk.md`.
//!
//! 確認 and 確定 are the button of every dialog there, so neither stands alone for a decision; 已授權 is a card authorisation.

use super::Message;

/// The text of a message; what stands in braces is filled in.
pub(super) fn template(message: &Message) -> &'static str {
    use Message as M;
    match message {
        // The frame of every page.
        M::SkipToContent => "跳到主要內容",
        M::PageTitle { .. } => "{page} · Counterfoil",
        M::BandProduction => "正式環境",
        M::BandDemo => "示範環境：模擬的服務商，沒有真實款項",
        M::BandTestClock { .. } => "測試時鐘已調快 {span}",
        M::BandTestClockBack { .. } => "測試時鐘已調慢 {span}",
        M::NavLabel => "頁面",
        M::NavOperations => "操作",
        M::NavHelp => "狀態與用語",
        M::LanguageLabel => "語言",
        M::AsOf { .. } => "資料時間 {time}（{zone}）",
        M::Refresh => "重新整理",

        // States.
        M::StateAwaitingApproval => "待核准",
        M::StateAuthorized => "待送出",
        M::StateSubmitted => "送出中",
        M::StateUnknown => "結果未知",
        M::StatePending => "服務商處理中",
        M::StateConfirmed => "已查證成立",
        M::StateFailed => "確定未成立",
        M::StateBounced => "確定未成立：已退回",
        M::StateEscalated => "待人工判定",
        M::StateCancelled => "已撤銷（未送出）",

        // What each state means, for the glossary.
        M::MeansAwaitingApproval => "已登錄。首次送出前須由人員核准，等待不會逾期。",
        M::MeansAuthorized => "已登錄且可以送出。此時一定還沒有發生任何事。",
        M::MeansSubmitted => "送出前已先註記。從這一刻起，就可能已經發生。",
        M::MeansUnknown => {
            "已送出，但沒有證據證明結果。這不是失敗：款項視同已支出，系統會持續查詢，直到有證據為止。"
        }
        M::MeansPending => "服務商已受理，尚未處理完成。",
        M::MeansConfirmed => {
            "已查證服務商端確有此筆。因銀行可能退回款項，會在第 1、3、7、14、30 天再次查詢。"
        }
        M::MeansFailed => "已有證據證明：此筆不存在，也不會成立。若要再做一次，須另開新版次。",
        M::MeansBounced => "原已查證成立，之後被退回：款項未到客戶。",
        M::MeansEscalated => "結果未知，且只能由人員處理。系統仍持續查詢，也會接收 webhook 通知。",
        M::MeansCancelled => "在送出前已撤回，或不予核准。",

        // What is to be done.
        M::RefundOf { .. } => "退款 {money}",
        M::Refund => "退款",
        M::Lead { .. } => "{what}，訂單 {order}：自 {since}（{zone}）起為{state}",
        M::VersionIs { .. } => "版本 {number}",

        // Time.
        M::Ago { .. } => "{span}前",
        M::Ahead { .. } => "{span}後",
        M::SpanSeconds { .. } => "{seconds} 秒",
        M::SpanMinutes { .. } => "{minutes} 分鐘",
        M::SpanHours { .. } => "{hours} 小時",
        M::SpanHoursMinutes { .. } => "{hours} 小時 {minutes} 分鐘",
        M::SpanDays { .. } => "{days} 天",

        // The list.
        M::OperationsTitle => "操作",
        M::ViewsLabel => "檢視",
        M::ViewAttention => "需要注意",
        M::ViewUnknown => "結果未知",
        M::ViewWindowClosing => "安全重送期限不到 2 小時",
        M::ViewPendingTooLong => "處理過久",
        M::ViewEscalated => "待人工判定",
        M::ViewAll => "全部",
        M::OpenNow => "目前未結，不分檢視",
        M::FiltersLabel => "篩選",
        M::FilterState => "狀態",
        M::FilterKind => "種類",
        M::FilterAccount => "服務商帳號",
        M::FilterOrder => "訂單",
        M::FilterExternalId => "外部編號",
        M::FilterFrom => "登錄日期起",
        M::FilterTo => "登錄日期迄",
        M::FilterAny => "不限",
        M::FilterApply => "套用",
        M::FilterClear => "清除篩選",
        M::FilterUnusable { .. } => "無法使用 {value}，此項篩選未套用。",
        M::ListCaptionNewest { .. } => "{view}：最新者在前。時間為 {zone}。",
        M::ListCaption { .. } => "{view}：期限最近者在前。時間為 {zone}。",
        M::ColumnState => "狀態",
        M::ColumnWhy => "原因／接下來",
        M::ColumnOperation => "操作編號",
        M::ColumnOrder => "訂單",
        M::ColumnAmount => "金額",
        M::ColumnProvider => "服務商帳號",
        M::ColumnExternalId => "外部編號",
        M::ColumnAttempts => "送出次數",
        M::ColumnDeadline => "安全重送期限",
        M::ColumnLastChange => "最近變更",
        M::ColumnNext => "下次動作",
        M::NoValue => "無",
        M::WindowClosed => "已過期",
        M::DueNow => "現在",
        M::IncidentsMark { .. } => "事件：{count}",
        M::SetAsideMark => "已擱置",
        M::PagesLabel => "清單分頁",
        M::NextPage => "下一頁",
        M::FirstPage => "第一頁",
        M::EmptyNothingYet => "尚無資料。透過 API 提出的第一筆操作會出現在這裡。",
        M::EmptyAttention => "目前沒有需要注意的項目。",
        M::EmptyNoMatch => "沒有符合的資料。",
        M::EmptySearchedOnly { .. } => "沒有符合的資料。僅搜尋 {from} 至 {to} 登錄的操作。",
        M::EmptySearchedFrom { .. } => "沒有符合的資料。僅搜尋 {from} 起登錄的操作。",
        M::EmptySearchedTo { .. } => "沒有符合的資料。僅搜尋 {to} 以前登錄的操作。",
        M::EmptyPage => "這一頁已沒有資料，清單已有變動。",

        // The reconciler and alarms.
        M::ReconcilerRan { .. } => "查核程式上次執行：{time}（{relative}）；排程 {schedule}。",
        M::ReconcilerNext { .. } => "下次 {time}。",
        M::ReconcilerLate { .. } => {
            "查核程式沒有回應：上次執行 {time}（{relative}）。這段期間沒有進行任何查詢。"
        }
        M::ReconcilerNever { .. } => "查核程式尚未在此帳本執行過；排程 {schedule}。",
        M::AlarmsLabel => "警示",
        M::AlarmUnauthorized { .. } => {
            "{account}：自 {since} 起，服務商不接受我們的憑證（401）。此帳號已暫停送出。"
        }
        M::AlarmReadsUnauthorized { .. } => {
            "{account}：自 {since} 起，服務商拒絕我們的查詢（401 或 403），目前無法查明結果。"
        }
        M::AlarmCapturedBelowHeld { .. } => {
            "{payment}：自 {since} 起，商店回報的已收金額低於已占用金額，此筆付款暫停送出。"
        }
        M::AlarmAccountDown { .. } => {
            "{account}：自 {since} 起無法連上。相關操作持續等待，這不能作為任何結果的證據。"
        }
        M::AlarmClockBehind { .. } => "自 {since} 起，系統時鐘落後帳本中的最新時間。重送暫緩。",
        M::AlarmRowsSetAside { .. } => "自 {since} 起，部分資料無法讀取，已先擱置；其餘照常處理。",
        M::AlarmRestored { .. } => {
            "自 {since} 起使用由備份還原的帳本：在人員宣告結束之前，凡未證明還原前沒有送出過的操作，一律不送出。"
        }
        M::EveryAccount => "所有帳號",

        // The five headings.
        M::Known => "已知事實",
        M::NotKnown => "尚未查明",
        M::NextByItself => "系統接下來會做",
        M::You => "你需要做的",
        M::NotAllowed => "目前不可執行",

        // Known.
        M::KnownNotSent { .. } => "{at} 登錄。尚未送出，因此不可能已經發生。",
        M::KnownSendsDidNothing { .. } => "目前已嘗試送出 {count} 次，每次都已證明沒有造成任何結果。",
        M::KnownHoldRevision { .. } => {
            "等待原因：這是第 {number} 版次。同一件事要再做一次，一律須由人員核准。"
        }
        M::KnownHoldAboveLimit { .. } => {
            "等待原因：連同此筆，該訂單 30 天內的退款共 {together}，上限為 {limit}。"
        }
        M::KnownHoldTwin { .. } => "等待原因：與 {operation} 疑似同一筆，只是寫法不同。",
        M::KnownHoldLapsed { .. } => "等待原因：准予送出後 {span}內未送出。",
        M::KnownHeldBack => "等待原因：有一筆帶有我們的識別標記，內容卻與原意不符。",
        M::KnownHeldForRestore => "等待原因：帳本由備份還原，而查詢無法得知還原前是否已經送出。",
        M::KnownRestored { .. } => "{at} 登錄。帳本由備份還原，可能已經送出而沒有記錄在此。",
        M::KnownMarked { .. } => "第 {number} 次送出於 {at} 註記，從那一刻起就可能已經發生。",
        M::KnownSent { .. } => "第 {number} 次送出於 {at} 發出；{ended}：{how}。",
        M::KnownSenderGone { .. } => "第 {number} 次送出於 {at} 註記，但送出程式沒有回報。",
        M::KnownLookUp { .. } => "{look_up}",
        M::KnownAbsent { .. } => "已證明查無此筆：有 {count} 次時間足以採計的完整查詢，都沒有找到。",
        M::KnownMismatch { .. } => "{id} 帶有我們的識別標記，但下列欄位不符：{fields}。",
        M::KnownUnclaimed { .. } => "這筆付款上有金額相同、無人認領的 {ids}。",
        M::KnownOneFailed { .. } => "{provider} 表示 {id} 未成立，但其他幾次送出可能另外成立。",
        M::KnownEscalated { .. } => "{at} 起轉人工判定：{why}。",
        M::KnownHeld { .. } => "{provider} 已受理，編號 {id}（狀態 {status}）。",
        M::KnownExists { .. } => "{provider} 端確有此筆，編號 {id}。",
        M::KnownSettledByAnswer { .. } => "{at} 由服務商的回應查明。",
        M::KnownSettledByLookUp { .. } => "{at} 由查詢結果查明。",
        M::KnownSettledByWebhook { .. } => "{at} 由服務商的 webhook 通知查明。",
        M::KnownBounced { .. } => "原已成立（{id}），之後被退回：{provider} 自 {at} 起如此表示。",
        M::KnownProviderFailed { .. } => "{provider} 表示 {id} 未成立。",
        M::KnownRefused { .. } => "{provider} 已明確拒絕（{code}）。",
        M::KnownRefusedPlain { .. } => "{provider} 已明確拒絕。",
        M::KnownFailureReason { .. } => "對方提供的原因：{reason}。",
        M::KnownContradicted { .. } => "{provider} 曾表示確有此筆，也曾表示未成立，最近一次於 {at}。",
        M::KnownWithdrawn { .. } => "{at} 撤回，當時尚未送出。",
        M::KnownDenied { .. } => "{at} 人員不予核准，當時尚未送出。",
        M::KnownCancelAsked => "送出後有人要求停止：這只會停止後續送出。",
        M::KnownAskedTimes { .. } => "已被要求 {count} 次，仍是同一筆操作；重複要求不會再次送出。",

        // Not known.
        M::NotKnownNothing => "無。",
        M::NotKnownOnItsWay { .. } => "{provider} 是否已收到：正在送出。",
        M::NotKnownWhether { .. } => "{provider} 是否已動用 {money}。",
        M::NotKnownMismatch { .. } => "{id} 是否就是原本要做的這一筆。",
        M::NotKnownUnclaimed { .. } => "{ids} 是否就是這筆退款：上面沒有任何識別標記。",
        M::NotKnownPending { .. } => "{provider} 最後是否會處理完成。",
        M::NotKnownBounce => "銀行是否會退回款項：最長可能需要 30 天。",
        M::NotKnownWhichEffect => "為何出現一筆以上，以及哪一筆才是原本要做的。",
        M::NotKnownAgainstState => "此筆由誰造成：我們並未送出，或先前已有不同的結論。",
        M::NotKnownCustomerPaid => "之後要用什麼方式讓客戶收到款項。",
        M::NotKnownContradicted => "兩種說法何者為真：將直接查詢該筆交易。",

        // Next, by itself.
        M::NextNothingApproval => "無：等候人員處理，不會逾期。",
        M::NextSends { .. } => "現在就會送往 {provider}。",
        M::NextSendsAgainAt { .. } => "將於 {at} 送出；到目前為止不可能已經發生。",
        M::NextAccountPaused { .. } => "{account} 暫停期間不會送出；帳號恢復後會自動送出。",
        M::NextPaymentBlocked => "不會送出：這筆付款的實收金額，已低於各操作保留的金額。",
        M::NextTriedAgainAt { .. } => "將於 {at} 再試。",
        M::NextAnswerOr { .. } => "等候回應；若到 {at} 仍未收到，即列為結果未知並開始查詢。",
        M::NextLookUpAt { .. } => "第 {number} 次查詢：{at}（逐筆查這筆付款的所有退款）。",
        M::NextLookUpNow { .. } => "第 {number} 次查詢：現在進行（逐筆查這筆付款的所有退款）。",
        M::NextLookUpFailed { .. } => "上次無法查詢（{why}）；這不能說明退款是否成立。",
        M::NextTooEarly => "上次查詢時間太早，尚不足為憑。",
        M::NextAbsenceNotProved { .. } => "完整查詢而查無此筆：{walks}／{needed} 次。",
        M::NextResends => "將以同一把冪等鍵、相同內容再送一次：已證明查無此筆，且冪等鍵仍有保護。",
        M::NextKeyIsTheQuestion { .. } => "將以同一把冪等鍵再送一次：{provider} 不提供查詢，只能以此詢問。",
        M::NextRestored { .. } => {
            "證明還原前沒有送出過，才會送出。完整查詢而查無此筆：{walks}／{needed} 次。"
        }
        M::NextResendWaitsForClock => "重送暫緩：系統時鐘落後帳本中的最新時間。",
        M::NextResendWaitsForAccount { .. } => "重送暫緩：{account} 已暫停。",
        M::NextResendWaitsForPayment => "重送暫緩：這筆付款的實收金額，已低於各操作保留的金額。",
        M::NextWaitsForEvidence { .. } => {
            "{provider} 不提供查詢，也不再重送；等待服務商通知，時限一到轉人工判定。"
        }
        M::NextStoredFailure => "不會重送：服務商以這把冪等鍵存下了失敗結果，再送只會得到同樣的回覆。",
        M::NextToPersonAt { .. } => "最晚於 {at} 轉人工判定。",
        M::NextReadAgainAt { .. } => "將於 {at} 再次查詢狀態。",
        M::NextReadAgainNow => "現在再次查詢狀態。",
        M::NextWatchedAt { .. } => "將於 {at} 再次查詢，確保銀行沒有退回（第 1、3、7、14、30 天）。",
        M::NextLooksOnAt { .. } => "持續查詢，下次 {at}；也會接收 webhook 通知。仍可能因新證據而查明。",
        M::NextWebhooksOnly => "只接收 webhook 通知；此服務商不提供查詢。",
        M::NextNothing => "無。",
        M::NextSetAside => "無：查核程式無法讀取這筆資料，已先擱置。",

        // You.
        M::YouNothing => "目前不用處理。",
        M::YouNothingUntil { .. } => "{at} 前不用處理。",
        M::YouApprove => "由審核人員決定：核准送出，或不核准。",
        M::YouTwin { .. } => "請先與 {operation} 比對：是否真的要做兩次？",
        M::YouLookFirst { .. } => {
            "核准之前，請先到 {provider} 網站，在該筆付款上尋找帶有下列識別標記的退款。"
        }
        M::YouAccountPaused { .. } => "請由操作人員處理 {account} 的警示。這筆操作本身不用處理。",
        M::YouPaymentBlocked => "請檢視訂單：實收金額已低於保留金額。",
        M::YouClock => "請校正帳本所在主機的時鐘。",
        M::YouDecide => "需要判定。請到服務商網站查證：在該筆付款上尋找帶有下列識別標記的退款。",
        M::YouDecideUnclaimed { .. } => "請查明 {ids} 由誰建立。若就是這筆退款，代表已經成立。",
        M::YouDecideMismatch { .. } => "請逐欄比對 {id} 與原本要做的內容。",
        M::YouDecideAbsent => "已證明查無此筆，但系統不得再次送出，須由人員判定後續。",
        M::YouDecideWalk => "請到服務商網站，把這筆付款的退款查到最後一筆：系統沒能查完。",
        M::YouNotElsewhere { .. } => "請勿另外在 {provider} 網站上退款。",
        M::YouAskProvider { .. } => "處理時間過長：請向 {provider} 詢問 {id}。",
        M::YouPendingUntil { .. } => "{at} 前不用處理；之後列為處理過久。",
        M::YouBounced => "有待辦事項：款項未到客戶。若要再退一次，須改開新版次並另行核准。",
        M::YouTwoEffects { .. } => "請查明：同一筆操作出現 {ids}，實際退出的金額多於原意。",
        M::YouAgainstState { .. } => "請查明：{id} 不應存在卻存在。",
        M::YouRevision => "不用處理。若仍需要，須改開新版次並另行核准。",
        M::YouEngineer => "請工程師檢查這筆資料，錯誤訊息如上。",
        M::ClaimNothingYet => "可告知客戶：目前尚未進行。",
        M::ClaimInProgress => "可告知客戶：正在查證中。",
        M::ClaimDone => "可告知客戶：已完成。",
        M::ClaimNotDone => "可告知客戶：沒有成立。",
        M::ClaimBounced => "可告知客戶：款項已遭退回，沒有入帳。",

        // Not allowed.
        M::NotAllowedUnapproved => "未經人員核准就送出。",
        M::NotAllowedAnotherWay => "以其他方式送出：由系統送出，只送一次。",
        M::NotAllowedTakeBack => "收回：可能已經送出。現在撤銷只會停止後續送出。",
        M::NotAllowedResendWhileSending => "再次送出：目前正在送出。",
        M::NotAllowedResendUnproved { .. } => {
            "再次送出：尚未證明查無此筆（須在 {after} 之後完整查詢 {needed} 次）。"
        }
        M::NotAllowedResendMayExist { .. } => "再次送出：{ids} 可能就是這筆退款。",
        M::NotAllowedResendRuledOut { .. } => "由系統再次送出：{why}。",
        M::NotAllowedResendStoredFailure => "再次送出：同一把冪等鍵只會得到已存下的失敗結果。",
        M::NotAllowedByHand => "人工再次送出：只能由查核程式以同一把冪等鍵進行。",
        M::NotAllowedNewKey => "為同一件事另開新請求：換一把冪等鍵，可能退款兩次。",
        M::NotAllowedOutcome => "直接填寫結果：狀態只隨證據改變。",
        M::NotAllowedResendHeld => "再次送出：服務商已受理。",
        M::NotAllowedResendDone => "再次送出：已經成立。若要彌補，須另開一筆新操作。",
        M::NotAllowedResendSettled => "以這個操作編號再次送出：結果已經查明。",
        M::NotAllowedWithdrawn => "送出：此筆已撤銷。",

        // Why a row is with a person.
        M::EscalatedPageCap => "查詢達到頁數上限，沒有讀完",
        M::EscalatedCursorLoop => "查詢的分頁重複循環，沒有讀完",
        M::EscalatedMismatch => "有一筆帶有我們的識別標記，內容卻不符",
        M::EscalatedUnclaimedEqual => "這筆付款上有金額相同、無人認領的交易",
        M::EscalatedRuledOut { .. } => "已證明查無此筆，但不得再次送出：{why}",
        M::EscalatedTimeIsUp => "時限已到，仍沒有證據證明結果",
        M::RuledOutCancelAsked => "有人要求停止",
        M::RuledOutNoKeys => "服務商沒有冪等鍵",
        M::RuledOutSuccessOnly => "服務商只為成功的結果保留冪等鍵，而遺失的回應未必是成功",
        M::RuledOutWindowClosed => "已過安全重送期限",
        M::RuledOutRestored => "此筆在帳本由備份還原之前就已送出，備份未必記有每一次送出",
        M::RuledOutAttemptsUsed => "准許的送出次數已用完",

        // Why / next in the list, short.
        M::ShortWaitsForApproval => "等候人員核准",
        M::ShortReadyToSend => "即將送出",
        M::ShortSendsAgainLater => "遭退回或未送出，將再送",
        M::ShortAccountPaused => "帳號已暫停",
        M::ShortPaymentBlocked => "實收低於保留金額",
        M::ShortSenderAtWork => "正在送出",
        M::ShortLooksUpNext => "已送出，未收到回應；接著查詢",
        M::ShortLookUpFailed { .. } => "無法查詢：{why}",
        M::ShortTooEarly => "查無，但尚不足為憑",
        M::ShortAbsenceNotProved { .. } => "查無 {walks}／{needed} 次",
        M::ShortResends => "查無此筆；以同一把冪等鍵再送",
        M::ShortKeyIsTheQuestion => "無法查詢；以同一把冪等鍵詢問",
        M::ShortRestored { .. } => "由備份還原；查無 {walks}／{needed} 次",
        M::ShortResendWaitsForClock => "重送暫緩：時鐘落後",
        M::ShortResendWaitsForAccount => "重送暫緩：帳號已暫停",
        M::ShortResendWaitsForPayment => "重送暫緩：實收低於保留金額",
        M::ShortWaitsForEvidence => "無法查詢也不重送；等待服務商通知",
        M::ShortStoredFailure => "失敗結果已存下；只查詢，不重送",
        M::ShortAtProvider => "服務商尚未完成",
        M::ShortWatched => "持續留意：銀行可能退回",
        M::ShortSettled => "已查明",
        M::ShortBounced => "已退回：款項未到客戶",
        M::ShortStopped => "送出前已停止",
        M::ShortToPerson { .. } => "{why}",
        M::ShortStillWithPerson => "待人工判定；持續查詢",

        // How an attempt ended.
        M::ClassNotSent => "未送出",
        M::ClassDeferred => "未受理",
        M::ClassRefused => "明確拒絕",
        M::ClassEffect => "回應已含此筆",
        M::ClassNoAnswer => "已送出，未收到回應",
        M::ClassNoProof => "有回應，但無法判斷結果",
        M::ClassOpen => "送出中",
        M::MeansNotSent => "已證明沒有送出任何內容，可以立即再送。",
        M::MeansDeferred => "已證明在執行前就被退回：回到待送出。",
        M::MeansRefused => "已證明不會執行：回應列在明確拒絕的清單上。",
        M::MeansEffect => "回應內含此筆，且識別標記、金額、幣別、對象都相符。",
        M::MeansIndeterminate => "其他情形：逾時、斷線、5xx 等。可能已經發生。",
        M::WhyConnectFailed => "無法建立連線",
        M::WhyDeadlinePassed => "送出前已超過時限",
        M::WhyNotBuilt => "無法組成請求",
        M::WhyTimedOut => "逾時未收到回應",
        M::WhyConnectionLost => "連線中斷",
        M::WhyUnauthorized => "憑證未被接受（401）",
        M::WhyRateLimitNamed => "服務商表明已達流量上限",
        M::WhyRateLimitUnnamed => "429，但未說明是哪一種上限",
        M::WhyDefiniteRefusal => "明確的拒絕",
        M::WhyAccepted => "已受理",
        M::WhyAlreadyDone => "服務商表示先前已處理，可能就是我們這一筆",
        M::WhyKeyReused => "服務商表示這把冪等鍵已搭配其他參數",
        M::WhyInFlight => "服務商正以同一把冪等鍵處理中",
        M::WhyLockTimeout => "服務商未能及時鎖定該筆資料",
        M::WhyServerError => "服務商伺服器錯誤（5xx）",
        M::WhyRedirected => "被轉址（3xx），未跟隨",
        M::WhyForbidden => "被拒絕（403），可能來自中間的設備",
        M::WhyBodyNotUnderstood => "回應內容無法解讀",
        M::WhyEffectMismatch => "回應中的交易與原意不符",
        M::WhyUnlistedAnswer => "不在任何清單上的回應",

        // Why a look-up brought nothing.
        M::UnavailableNotConnected => "無法連線",
        M::UnavailableNoAnswer => "未收到回應",
        M::UnavailableUnauthorized => "憑證未被接受（401）",
        M::UnavailableForbidden => "被拒絕（403）",
        M::UnavailableNotFound => "找不到該筆付款（404），不能證明查無此筆",
        M::UnavailableRateLimited => "已達流量上限（429）",
        M::UnavailableServerError => "伺服器錯誤（5xx）",
        M::UnavailableUnexpectedStatus => "非預期的狀態碼",
        M::UnavailableNotWellFormed => "回應格式不正確",
        M::UnavailableAccountDown => "此帳號持續失敗，尚未到再次試探的時間",

        // Look-ups.
        M::LookUpNotFound { .. } => "{at} 查詢：完整（{pages} 頁），查無此筆。",
        M::LookUpTooEarly { .. } => "{at} 查詢：完整（{pages} 頁），查無，但尚不足為憑。",
        M::LookUpFound { .. } => "{at} 查詢：完整（{pages} 頁），查到 {ids}。",
        M::LookUpFoundPartly { .. } => "{at} 查詢：查到 {ids}；但不完整：{doubt}。",
        M::LookUpInconclusive { .. } => "{at} 查詢：無法判斷，{doubt}。",
        M::LookUpUnavailable { .. } => "{at} 查詢：無法查詢，{why}。",
        M::DoubtPageCap => "達到頁數上限",
        M::DoubtCursorLoop => "分頁重複循環",

        // The operation page.
        M::OperationTitle { .. } => "{id}：{state}",

        // Facts.
        M::FactsTitle => "基本資料",
        M::LimitsTitle => "適用的限制",
        M::FactKind => "種類",
        M::FactAmount => "金額",
        M::FactOrder => "訂單",
        M::FactIdentity => "識別欄位",
        M::FactRevision => "版次",
        M::FactTarget => "付款",
        M::FactCustomer => "客戶",
        M::FactRequester => "申請人",
        M::FactRequesterIs { .. } => "權杖 {token}，持有人 {owner}",
        M::FactRequestedBy => "商店提供的申請人",
        M::FactReason => "申請理由",
        M::FactParams => "申請參數",
        M::FactAccount => "服務商帳號",
        M::FactAccountIs { .. } => "{account}：{provider}，{mode}，{base}",
        M::ModeLive => "正式",
        M::ModeTest => "測試",
        M::FactSendWithin => "送出期限",
        M::FactSendTimeout => "單次送出時限",
        M::FactMaxResends => "重送上限",
        M::FactTimes { .. } => "{count} 次",
        M::FactAbsence => "證明查無此筆的條件",
        M::FactAbsenceIs { .. } => "完整查詢 {count} 次，間隔 {gap}，且於送出時限後滿 {lag}才開始",
        M::FactEscalateAfter => "轉人工判定時限",
        M::FactRecorded => "登錄時間",
        M::FactUnknownSince => "首次列為結果未知",

        // IDs.
        M::IdsTitle => "編號",
        M::IdOperation => "操作編號",
        M::IdKey => "冪等鍵",
        M::IdMarker => "識別標記",
        M::IdFirstSent => "首次送出",
        M::IdWindow => "安全重送期限",
        M::IdWindowUntil { .. } => "至 {at} 止",
        M::IdWindowClosed { .. } => "已於 {at} 到期",
        M::IdWindowNone => "尚未起算：不可能有任何內容送達",
        M::IdWindowNoKeys => "無：此服務商沒有冪等鍵",
        M::IdIntentHash => "意圖雜湊值",
        M::IdExternal => "外部編號",
        M::IdConsole { .. } => "在 {provider} 開啟",

        // Timeline.
        M::TimelineTitle => "歷程",
        M::TimelineCaption { .. } => "全部紀錄，由舊到新。時間為 {zone}；列印時並列 UTC。",
        M::ColumnTime => "時間",
        M::ColumnGap => "間隔",
        M::ColumnWhat => "事項",
        M::ColumnWho => "執行者",
        M::ColumnChain => "雜湊鏈",
        M::GapIs { .. } => "+{span}",
        M::EntryRecorded { .. } => "登錄為{state}",
        M::EntryAsked => "提出要求",
        M::EntryAskedAgain => "再次提出要求；沒有送出",
        M::EntryAskedFor { .. } => "申請人 {name}",
        M::EntryAttemptStarted { .. } => {
            "第 {number} 次送出，已註記；用戶端請求編號 {request}；時限 {deadline}"
        }
        M::EntryAttemptEnded { .. } => "第 {number} 次送出：{class}；{why}",
        M::EntryTold { .. } => "{provider} 通知：{id} 狀態為 {status}",
        M::EntryCancelAsked => "要求停止",
        M::EntryIncident { .. } => "事件：{incident}",
        M::EventApproved => "人員核准送出",
        M::EventDenied => "人員不核准",
        M::EventLapsed => "未在期限內送出",
        M::EventHeldBack => "發現不符的交易，送出前須再核准",
        M::EventRestoreInDoubt => "由備份還原後，查詢無法得知是否已送出，送出前須再核准",
        M::EventMarked => "送出前註記",
        M::EventNothingHappened => "目前各次送出都已證明沒有造成結果",
        M::EventAnswerLost => "回應遺失，或無法判斷結果",
        M::EventRefused => "已證明不會執行",
        M::EventEffectLive => "已查證確有此筆",
        M::EventEffectPending => "服務商已受理",
        M::EventEffectFailed => "服務商表示未成立或已退回",
        M::EventExecutionFailed => "其中一次執行未成立，無法證明其他各次",
        M::EventEscalated => "轉人工判定",
        M::EventPermitted => "人員准許再送一次",
        M::EventCancelled => "撤回",
        M::ActorToken { .. } => "權杖 {name}",
        M::ActorPerson { .. } => "人員 {name}",
        M::ActorSender { .. } => "送出程式 {name}",
        M::ActorReconciler { .. } => "查核程式 {name}",
        M::ActorProvider { .. } => "服務商 {name}",

        // Incidents.
        M::IncidentAgainstState { .. } => "操作為{state}時，卻出現 {id}",
        M::IncidentTwoEffects { .. } => "出現一筆以上：{ids}",
        M::IncidentMismatch { .. } => "{id} 帶有我們的識別標記，但下列欄位不符：{fields}",
        M::IncidentBounced { .. } => "{id} 已退回：款項未到客戶",
        M::FieldAmount => "金額",
        M::FieldCurrency => "幣別",
        M::FieldTarget => "付款",

        // Attempts.
        M::AttemptsTitle => "送出紀錄",
        M::AttemptsCaption => "每一次送出，以及得到的結果。",
        M::AttemptsNone => "尚未送出。",
        M::ColumnNumber => "次序",
        M::AttemptIs { .. } => "第 {number} 次",
        M::ColumnSentAt => "註記時間",
        M::ColumnDuration => "耗時",
        M::ColumnResult => "結果",
        M::ColumnClassWhy => "類別與原因",
        M::ColumnRequestIds => "請求編號",
        M::HttpStatus { .. } => "HTTP {status}",
        M::RequestIdOurs { .. } => "我方 {id}",
        M::RequestIdTheirs { .. } => "對方 {id}",
        M::Replayed => "重播的回應：代表首次執行的結果",
        M::StoredFailure => "已存於冪等鍵之下",
        M::ErrorCode { .. } => "代碼 {code}",
        M::RequestTitle => "送出的請求，每次內容完全相同",
        M::ResponseDigest { .. } => "原始回應的 SHA-256：{digest}",

        // Evidence.
        M::EvidenceTitle => "證據",
        M::EvidenceNone => "尚無證據。",
        M::EvidenceAttempt { .. } => "第 {number} 次送出的回應",
        M::EvidenceLookUp => "查詢結果",
        M::EvidenceWebhook { .. } => "{provider} 的 webhook 通知",
        M::EvidenceAt { .. } => "收到時間 {at}",
        M::EvidenceSays => "內容",
        M::EvidenceProves => "可以證明",
        M::EvidenceNotProves => "不能證明",
        M::SaysEffect { .. } => "{id}，狀態 {status}，{money}",
        M::SaysClass { .. } => "{class}：{why}",
        M::ProvesNothing => "無法判斷結果",
        M::ProvesNotSent { .. } => "第 {number} 次送出沒有造成任何結果",
        M::ProvesDeferred { .. } => "第 {number} 次送出在執行前就被退回",
        M::ProvesRefused { .. } => "第 {number} 次送出不會執行",
        M::ProvesReplayedRefusal => "首次執行已遭拒絕",
        M::ProvesExists { .. } => "{id} 確實存在",
        M::ProvesHeld { .. } => "服務商已受理 {id}",
        M::ProvesFailed { .. } => "{id} 未成立或已退回",
        M::ProvesAbsenceStep { .. } => "朝「查無此筆」又累積一次：{walks}／{needed}",
        M::ProvesAbsence => "目前各次送出都查無此筆",
        M::ProvesMismatch { .. } => "{id} 帶有我們的識別標記，但與原意不符",
        M::NotProvesOutcome => "是否已經發生",
        M::NotProvesOtherSends => "其他幾次送出的結果",
        M::NotProvesBank => "款項不會被退回：30 天內銀行仍可能退回",
        M::NotProvesFinished => "最後會處理完成",
        M::NotProvesAbsenceEarly { .. } => "查無此筆：{horizon} 之後開始的查詢才算數",
        M::NotProvesAbsence => "查無此筆：沒有讀完全部資料",
        M::NotProvesAbsenceYet => "查無此筆：查詢次數不足",
        M::NotProvesUnclaimed { .. } => "{ids} 就是這筆退款",
        M::NotProvesSecondExecution => "其他幾次送出沒有另外成立",
        M::EvidenceRetries { .. } => "重讀次數：{count}",
        M::EvidenceOthers { .. } => "這筆付款上的其他交易：{count}",

        // Effects on the payment.
        M::EffectsTitle => "這筆付款上的退款",
        M::EffectsCaption { .. } => "在 {payment} 上看到的每一筆，不論是否為我們所有。",
        M::EffectsNone => "目前沒有看到這筆付款上的任何退款。",
        M::ColumnHolder => "歸屬",
        M::ColumnStatus => "服務商狀態",
        M::ColumnSeen => "最近看到",
        M::HolderNobody => "無主交易",
        M::HolderThis => "本操作",
        M::MightBeThis => "可能就是這一筆",

        // Related.
        M::RelatedTitle => "相關操作",
        M::RelatedRevision => "版次",
        M::RelatedTwin => "疑似同一筆",

        // Raw and proof.
        M::ProofTitle => "完整性證明",
        M::ProofHead { .. } => "雜湊鏈末端 {head}，共 {count} 筆紀錄。",
        M::ProofCommand => "如需驗證完整性（沒有任何紀錄遭竄改或移除），請執行：",
        M::RawTitle => "原始 JSON：意圖、事實與紀錄，時間為 UTC",
        M::SetAsideTitle => "已擱置",
        M::SetAsideSays { .. } => "查核程式無法讀取這筆資料：{why}",

        // The order page.
        M::OrderTitle { .. } => "訂單 {order}",
        M::OrderPayment { .. } => "付款 {payment}，帳號 {account}",
        M::OrderCustomer { .. } => "客戶 {customer}",
        M::OrderSnapshot { .. } => "商店資料時間：{at}",
        M::OrderBlocked => "實收金額低於保留金額：這筆付款不再送出任何新操作。",
        M::TotalsTitle => "金額合計",
        M::TotalsCurrency { .. } => "{currency} 合計",
        M::TotalPaid => "實收",
        M::TotalRefunded => "已退",
        M::TotalInFlight => "處理途中",
        M::TotalUnknown => "結果未知",
        M::TotalElsewhere => "其他訂單保留",
        M::TotalWorst => "最多可能已退出",
        M::TotalLeft => "尚可退",
        M::MoreThanPaid { .. } => "超過實收 {money}",
        M::ItemSend { .. } => "{operation}，第 {number} 次送出：可能另外成立",
        M::ItemUnclaimed { .. } => "{id}：無主交易",
        M::ItemCaptured { .. } => "{payment} 的實收金額",
        M::WorstIs => "已退、處理途中與結果未知的合計，再加上每一次可能另外成立的送出",
        M::LeftIs => "實收減去所有保留金額；不會低於 0",
        M::NothingInIt => "無",
        M::LinesTitle => "品項",
        M::LinesCaption => "商店提供的內容。",
        M::ColumnLine => "品項編號",
        M::ColumnTitle => "名稱",
        M::ColumnQuantity => "數量",
        M::OrderOperationsTitle => "操作",
        M::OrderOperationsCaption => "這張訂單的全部操作（含各版次），由舊到新。",
        M::OrderNoOperations => "這張訂單尚無任何操作。",
        M::StreamTitle => "完整經過",
        M::StreamCaption { .. } => "所有操作的全部紀錄合併排列，由舊到新。時間為 {zone}。",

        // Help.
        M::HelpTitle => "狀態與用語",
        M::HelpStates => "狀態",
        M::HelpHeadings => "操作頁的五個標題",
        M::HelpKnown => "證據所顯示的事實，不含其他內容。",
        M::HelpNotKnown => "目前沒有證據說明的事。未收到回應，不代表失敗。",
        M::HelpNext => "系統不需任何人介入就會做的事，以及時間。",
        M::HelpYou => "人員需要做的事，或何時再來看。",
        M::HelpNotAllowed => "目前任何人都不可執行的事，以及原因。",
        M::HelpClasses => "一次送出能說明什麼",
        M::HelpWords => "用語",
        M::WordOperationId => "操作編號",
        M::WordOperationIdMeans => "由要做的事計算而得，不是亂數。再次提出要求，會算出同一個編號。",
        M::WordRevision => "版次",
        M::WordRevisionMeans => "同一件事正當地再做一次：是一筆新操作，須另行核准。",
        M::WordKey => "冪等鍵",
        M::WordKeyMeans => "同一筆操作每次送出都帶著同一把鍵，服務商藉此辨認，不會重複執行。",
        M::WordWindow => "安全重送期限",
        M::WordWindowMeans => "服務商承諾辨認冪等鍵的期間，自首次可能送達起算。過了期限再送，可能退款兩次。",
        M::WordMarker => "識別標記",
        M::WordMarkerMeans => "寫入服務商紀錄中的記號，讓這筆交易之後找得回來。",
        M::WordEvidence => "證據",
        M::WordEvidenceMeans => "任何來自外部、能說明結果的資訊。只有證據能改變狀態。",
        M::WordAbsent => "查詢：查無此筆",
        M::WordAbsentMeans => "在可靠的清單上完整查過，時間與次數都足夠，仍沒有找到。",
        M::WordInconclusive => "查詢：查無，但尚不足為憑",
        M::WordInconclusiveMeans => "讀到了，但太早，或沒有讀完。不予採計。",
        M::WordUnavailable => "查詢：無法查詢",
        M::WordUnavailableMeans => "無法讀取。這絕不是查無此筆的證據。",
        M::WordWorstCase => "最多可能已退出",
        M::WordWorstCaseMeans => "所有可能已退出或仍可能退出的金額。結果未知的款項視同已支出。",
        M::WordOrphan => "無主交易",
        M::WordOrphanMeans => "服務商端存在、但沒有任何操作認領的交易。",
        M::WordTwin => "疑似同一筆",
        M::WordTwinMeans => "與同一筆付款、相同金額的另一筆操作相似，只是寫法不同。",
        M::WordChain => "雜湊鏈",
        M::WordChainMeans => "每筆紀錄都帶有前一筆的雜湊值，竄改或移除都會被發現。",

        // When there is no such page.
        M::ProblemNotFound => "找不到",
        M::ProblemNotFoundSays => {
            "此帳本中沒有這個頁面、操作或訂單。編號逐位元組比對：1043 與 01043 是兩張不同的訂單。"
        }
        M::ProblemNotAllowed => "沒有檢視權限",
        M::ProblemNotAllowedSays => "你沒有檢視這一頁的權限。",
        M::ProblemBadAddress => "網址無法使用",
        M::ProblemBadAddressSays => "網址中的分頁標記無效，請從第一頁重新開始。",
        M::ProblemCouldNotLoad => "無法載入",
        M::ProblemCouldNotLoadSays => "目前無法讀取帳本。沒有任何資料被更動；請勿由此頁推論任何結果。",
        M::ProblemSetAsideSays { .. } => {
            "{id} 無法讀取，查核程式已先擱置：{why}。其結果並未改變，請勿由此頁推論。請工程師檢查。"
        }
        M::BackToOperations => "回到操作清單",
    }
}

/// What stands between the items of a list.
pub(super) const BETWEEN: &str = "、";

/// A moment that isn't today: with date and weekday, and the year unless it is this one.
pub(super) fn dated(date: jiff::civil::Date, this_year: bool, time: &str) -> String {
    use jiff::civil::Weekday;
    let weekday = match date.weekday() {
        Weekday::Monday => "一",
        Weekday::Tuesday => "二",
        Weekday::Wednesday => "三",
        Weekday::Thursday => "四",
        Weekday::Friday => "五",
        Weekday::Saturday => "六",
        Weekday::Sunday => "日",
    };
    let year = if this_year { String::new() } else { format!("{}/", date.year()) };
    format!("{year}{}/{}（{weekday}）{time}", date.month(), date.day())
}
