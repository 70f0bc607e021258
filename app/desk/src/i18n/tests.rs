#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use super::*;

fn names(template: &str) -> BTreeSet<&str> {
    template.split('{').skip(1).map(|rest| rest.split_once('}').unwrap().0).collect()
}

#[test]
fn every_text_says_everything_that_stands_in_its_message_and_nothing_else() {
    for message in Message::samples() {
        let args: BTreeSet<_> = message.args().into_iter().map(|(name, _)| name).collect();
        for template in [en::template(&message), zh_hant::template(&message)] {
            assert!(!template.is_empty(), "{message:?}");
            assert_eq!(names(template), args, "{message:?}: {template}");
        }
    }
}

/// Words that stay as they are in Chinese: names, protocols and formats.
const KEPT: [&str; 8] = ["Counterfoil", "API", "webhook", "HTTP", "SHA-256", "JSON", "UTC", "MCP"];

#[test]
fn the_chinese_texts_hold_no_english_words() {
    for message in Message::samples() {
        let mut text = zh_hant::template(&message).to_owned();
        for name in message.args().into_iter().map(|(name, _)| format!("{{{name}}}")) {
            text = text.replace(&name, "");
        }
        for kept in KEPT {
            text = text.replace(kept, "");
        }
        let text = text.replace("5xx", "").replace("3xx", "");
        assert!(!text.chars().any(|c| c.is_ascii_alphabetic()), "{message:?}: {text}");
    }
}

/// 確認 and 確定 are the button of every dialog, and 已授權 is a card authorisation.
#[test]
fn the_chinese_words_are_those_of_the_design() {
    let text = |message| zh_hant::template(&message);
    let words = [
        (Message::StateAwaitingApproval, "待核准"),
        (Message::StateAuthorized, "待送出"),
        (Message::StateSubmitted, "送出中"),
        (Message::StateUnknown, "結果未知"),
        (Message::StatePending, "服務商處理中"),
        (Message::StateConfirmed, "已查證成立"),
        (Message::StateFailed, "確定未成立"),
        (Message::StateEscalated, "待人工判定"),
        (Message::StateCancelled, "已撤銷（未送出）"),
        (Message::Known, "已知事實"),
        (Message::NotKnown, "尚未查明"),
        (Message::NextByItself, "系統接下來會做"),
        (Message::You, "你需要做的"),
        (Message::YouNothing, "目前不用處理"),
        (Message::NotAllowed, "目前不可執行"),
        (Message::ViewAttention, "需要注意"),
        (Message::TotalWorst, "最多可能已退出"),
        (Message::TotalLeft, "尚可退"),
        (Message::TotalInFlight, "處理途中"),
        (Message::IdWindow, "安全重送期限"),
        (Message::IdKey, "冪等鍵"),
        (Message::ClassNoAnswer, "已送出，未收到回應"),
        (Message::HolderNobody, "無主交易"),
        (Message::RelatedTwin, "疑似同一筆"),
        (Message::BandProduction, "正式環境"),
    ];
    for (message, word) in words {
        let name = format!("{message:?}");
        assert!(text(message).trim_end_matches('。').starts_with(word), "{name}");
    }
    for message in Message::samples() {
        let said = zh_hant::template(&message);
        assert!(!said.contains("已授權"), "{message:?}: {said}");
        assert!(said != "確認" && said != "確定", "{message:?}");
    }
}

#[test]
fn what_cannot_be_seen_is_shown() {
    assert_eq!(visible("10\u{202E}43"), "10\\u202e43");
    assert_eq!(visible("a\u{200B}b\nc\0"), "a\\u200bb\\u000ac\\u0000");
    assert_eq!(visible("\u{E0041}"), "\\udb40\\udc41");
    assert_eq!(visible("退款 bôh – ok"), "退款 bôh – ok");
}

fn voice(lang: Lang) -> Voice {
    Voice { lang, zone: TimeZone::get("Asia/Taipei").unwrap(), now: "2026-11-30T02:07:31Z".parse().unwrap() }
}

#[test]
fn times_are_absolute_with_their_day_unless_it_is_today() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let (en, zh) = (voice(Lang::En), voice(Lang::ZhHant));
    assert_eq!(en.absolute(at("2026-11-30T02:03:11Z")), "10:03:11");
    assert_eq!(en.absolute(at("2026-12-01T01:48:00Z")), "Tue 1 Dec 09:48:00");
    assert_eq!(zh.absolute(at("2026-12-01T01:48:00Z")), "12/1（二）09:48:00");
    // It is still yesterday in UTC, and already today in Taipei.
    assert_eq!(en.absolute(at("2026-11-29T16:00:00Z")), "00:00:00");
    assert_eq!(en.absolute(at("2025-11-29T16:00:00Z")), "Sun 30 Nov 2025 00:00:00");
    assert_eq!(en.plain(&en.relative(at("2026-11-30T02:03:11Z"))), "4 min ago");
    assert_eq!(zh.plain(&zh.relative(at("2026-11-30T02:08:06Z"))), "35 秒後");
}

#[test]
fn a_span_is_said_in_the_unit_that_tells_most() {
    let said = |ms| voice(Lang::En).plain(&time::span(Duration::from_millis(ms)));
    assert_eq!(said(0), "0 s");
    assert_eq!(said(80), "0.1 s");
    assert_eq!(said(9_990), "10.0 s");
    assert_eq!(said(90_000), "90 s");
    assert_eq!(said(4 * 60_000), "4 min");
    assert_eq!(said(20 * 3_600_000), "20 h");
    assert_eq!(said(125 * 60_000), "2 h 5 min");
    assert_eq!(said(67 * 60_000), "1 h 7 min");
    assert_eq!(said(72 * 3_600_000), "3 d");
}

#[test]
fn an_identifier_in_a_sentence_is_isolated_and_inert() {
    let message = Message::KnownHoldTwin { operation: Arg::ident("<svg/onload=alert(1)>\u{202E}") };
    let html = Owner::new().with(|| voice(Lang::En).say(&message).to_html());
    assert!(html.contains("<bdi translate=\"no\">&lt;svg/onload=alert(1)&gt;\\u202e</bdi>"), "{html}");
}
