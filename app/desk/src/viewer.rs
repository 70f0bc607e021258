//! Who looks, in which language and zone, and where links lead.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// A language that pages are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lang {
    #[default]
    En,
    ZhHant,
}

impl Lang {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::En, Self::ZhHant];

    /// The `lang` attribute.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhHant => "zh-Hant-TW",
        }
    }

    /// The value in `?lang=`.
    pub fn label(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::ZhHant => "zh-Hant",
        }
    }

    /// `?lang=` counts first, then `Accept-Language` in its order of preference, then English.
    pub fn choose(asked: Option<&str>, accept_language: Option<&str>) -> Self {
        if let Some(lang) = asked.and_then(Self::of) {
            return lang;
        }
        let mut offers: Vec<(f32, Self)> = accept_language
            .unwrap_or_default()
            .split(',')
            .filter_map(|offer| {
                let (tag, quality) = offer.split_once(";q=").unwrap_or((offer, "1"));
                let quality: f32 = quality.trim().parse().unwrap_or(0.0);
                (quality > 0.0).then_some((quality, Self::of(tag.trim())?))
            })
            .collect();
        // Stable: of equal preference the first named wins.
        offers.sort_by(|a, b| b.0.total_cmp(&a.0));
        offers.first().map_or(Self::En, |(_, lang)| *lang)
    }

    /// Any English, and any Chinese: traditional characters are nearer to a reader of simplified ones than English is.
    fn of(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("en") {
            Some(Self::En)
        } else if primary.eq_ignore_ascii_case("zh") {
            Some(Self::ZhHant)
        } else {
            None
        }
    }
}

/// What the band on every page says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Production,
    Demo,
}

/// Everything a page needs to know about the request and the installation.
#[derive(Debug, Clone)]
pub struct Viewer {
    pub lang: Lang,
    /// Times are shown in this zone, by name.
    pub zone: TimeZone,
    /// The store's time, moved by a test clock or not.
    pub now: Timestamp,
    pub mode: Mode,
    /// How far a test clock is moved; zero when there is none.
    pub clock_offset: SignedDuration,
    pub css_url: String,
    pub icon_url: String,
    /// As asked for: `/operations?view=all&lang=zh-Hant`. Links keep its `lang` and `tz`.
    pub path_and_query: String,
}

/// All but the unreserved characters of RFC 3986.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// One path segment or query value, percent-encoded. `.` and `..` would be taken for directories.
pub(crate) fn encode(text: &str) -> String {
    match text {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => utf8_percent_encode(text, VALUE).to_string(),
    }
}

impl Viewer {
    /// `lang` and `tz` as they stand in the address, for links and for the hidden fields of a GET form.
    pub(crate) fn carried(&self) -> Vec<(String, String)> {
        self.pairs().into_iter().filter(|(key, _)| matches!(key.as_str(), "lang" | "tz")).collect()
    }

    /// The address's query, decoded: what a link holds is encoded by us, never passed on as it came.
    fn pairs(&self) -> Vec<(String, String)> {
        let query = self.path_and_query.split_once('?').map_or("", |(_, query)| query);
        let decoded =
            |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
        query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(key, value)| (decoded(key), decoded(value)))
            .collect()
    }

    /// A link to a page of ours. `path` is encoded already; the pairs aren't.
    pub fn href(&self, path: &str, pairs: &[(&str, &str)]) -> String {
        let ours = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        joined(path, ours.chain(self.carried()))
    }

    /// The path as asked for. One that browsers would take for another host's address isn't linked.
    fn path(&self) -> String {
        let path = self.path_and_query.split_once('?').map_or(self.path_and_query.as_str(), |(path, _)| path);
        let ours = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/\\");
        // An escape of its own that stands there already stays as it is.
        if ours { utf8_percent_encode(path, CONTROLS).to_string() } else { "/".to_owned() }
    }

    /// The same page once more.
    pub(crate) fn here(&self) -> String {
        joined(&self.path(), self.pairs().into_iter())
    }

    /// The same page in another language.
    pub fn in_lang(&self, lang: Lang) -> String {
        let kept = self.pairs().into_iter().filter(|(key, _)| key != "lang");
        joined(&self.path(), kept.chain([("lang".to_owned(), lang.label().to_owned())]))
    }

    /// The page of an operation.
    pub(crate) fn operation_href(&self, id: &str) -> String {
        self.href(&format!("/operations/{}", encode(id)), &[])
    }

    /// The page of an order.
    pub(crate) fn order_href(&self, order: &str) -> String {
        self.href(&format!("/orders/{}", encode(order)), &[])
    }

    /// The zone by name and its offset now: `Asia/Taipei, UTC+8`.
    pub(crate) fn zone_label(&self) -> String {
        let seconds = self.zone.to_offset(self.now).seconds();
        let (hours, minutes) = (seconds / 3600, (seconds % 3600).abs() / 60);
        let mut offset = if seconds == 0 { "UTC".to_owned() } else { format!("UTC{hours:+}") };
        if minutes != 0 {
            offset.push_str(&format!(":{minutes:02}"));
        }
        match self.zone.iana_name() {
            Some(name) if name != "UTC" => format!("{name}, {offset}"),
            _ => offset,
        }
    }
}

fn joined(path: &str, pairs: impl Iterator<Item = (String, String)>) -> String {
    let pairs: Vec<_> = pairs.map(|(key, value)| format!("{}={}", encode(&key), encode(&value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
    use super::*;

    fn viewer(path_and_query: &str) -> Viewer {
        Viewer {
            lang: Lang::En,
            zone: TimeZone::get("Asia/Taipei").unwrap(),
            now: "2026-11-30T02:07:31Z".parse().unwrap(),
            mode: Mode::Demo,
            clock_offset: SignedDuration::ZERO,
            css_url: String::new(),
            icon_url: String::new(),
            path_and_query: path_and_query.to_owned(),
        }
    }

    #[test]
    fn the_language_is_what_was_asked_for_then_what_the_browser_prefers() {
        assert_eq!(Lang::choose(Some("zh-Hant"), Some("en")), Lang::ZhHant);
        assert_eq!(Lang::choose(Some("xx"), Some("fr, zh-TW;q=0.8, en;q=0.9")), Lang::En);
        assert_eq!(Lang::choose(None, Some("zh-TW,zh;q=0.9,en-US;q=0.8")), Lang::ZhHant);
        assert_eq!(Lang::choose(None, Some("en;q=0, zh;q=0.1")), Lang::ZhHant);
        assert_eq!(Lang::choose(None, None), Lang::En);
    }

    #[test]
    fn links_keep_language_and_zone_and_encode_what_stands_in_them() {
        let viewer = viewer("/operations?view=all&lang=zh-Hant&tz=Europe%2FBerlin");
        assert_eq!(
            viewer.href("/operations", &[("order", "a&b=<c>")]),
            "/operations?order=a%26b%3D%3Cc%3E&lang=zh-Hant&tz=Europe%2FBerlin"
        );
        assert_eq!(viewer.in_lang(Lang::En), "/operations?view=all&tz=Europe%2FBerlin&lang=en");
        assert_eq!(viewer.order_href("../x"), "/orders/..%2Fx?lang=zh-Hant&tz=Europe%2FBerlin");
        assert_eq!(viewer.carried()[1], ("tz".to_owned(), "Europe/Berlin".to_owned()));
    }

    #[test]
    fn an_address_that_leads_to_another_host_is_not_linked() {
        for path in ["//evil.example/x?a=b", "/\\evil.example", "https://evil.example"] {
            assert!(viewer(path).in_lang(Lang::En).starts_with("/?"), "{path}");
            assert!(!viewer(path).here().contains("evil"), "{path}");
        }
        assert_eq!(viewer("/orders/1043?lang=en").here(), "/orders/1043?lang=en");
    }

    #[test]
    fn the_zone_is_named_with_its_offset() {
        let mut viewer = viewer("/");
        assert_eq!(viewer.zone_label(), "Asia/Taipei, UTC+8");
        viewer.zone = TimeZone::get("Asia/Kolkata").unwrap();
        assert_eq!(viewer.zone_label(), "Asia/Kolkata, UTC+5:30");
        viewer.zone = TimeZone::UTC;
        assert_eq!(viewer.zone_label(), "UTC");
    }
}
