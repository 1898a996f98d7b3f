//! Rate limits and budgets, as GitHub reports them in headers and answers.

use super::error::{LimitKind, RetryAfter};
use http::HeaderMap;
use http::header::DATE;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde::Deserialize;
use std::time::Duration;

/// The points that a token has left, as the last answer stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateBudget {
    pub limit: u64,
    pub remaining: u64,
    pub reset_at: Timestamp,
    /// The cost of this call; only GraphQL queries that ask for it have it.
    pub cost: Option<u64>,
}

/// The first wait without a hint from GitHub, which asks for at least a minute. It doubles each time.
const FIRST_WAIT: Duration = Duration::from_mins(1);
const LONGEST_WAIT: Duration = Duration::from_mins(16);

/// When to retry, in GitHub's order: `retry-after`, then the reset if no points remain, else a minute that
/// doubles with each limit in a row.
pub(super) fn retry_after(headers: &HeaderMap, limited_in_a_row: u32) -> RetryAfter {
    if let Some(seconds) = number(headers, "retry-after") {
        return RetryAfter::After(Duration::from_secs(seconds));
    }
    if number(headers, "x-ratelimit-remaining") == Some(0)
        && let Some(reset) = reset(headers)
    {
        // The reset time is on the server's clock, and ours may be wrong by hours. With the server's current
        // time the reset becomes a delay.
        return match date(headers) {
            Some(now) => RetryAfter::After(Duration::try_from(reset.duration_since(now)).unwrap_or_default()),
            None => RetryAfter::At(reset),
        };
    }
    RetryAfter::After(FIRST_WAIT.saturating_mul(1 << limited_in_a_row.min(10)).min(LONGEST_WAIT))
}

/// The kind of limit: the hourly one if no points remain and GitHub does not name the secondary one.
pub(super) fn kind(headers: &HeaderMap, message: &str) -> LimitKind {
    let spent = number(headers, "x-ratelimit-remaining") == Some(0);
    if message.contains("secondary rate limit") || !spent { LimitKind::Secondary } else { LimitKind::Primary }
}

/// Whether a refusal is about a limit. GitHub also answers 403 for a missing permission.
pub(super) fn is_limit(headers: &HeaderMap, message: &str) -> bool {
    headers.contains_key("retry-after")
        || number(headers, "x-ratelimit-remaining") == Some(0)
        || is_limit_message(message)
}

pub(super) fn is_limit_message(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["rate limit", "submitted too quickly", "abuse detection"].iter().any(|words| message.contains(words))
}

pub(super) fn budget_from_headers(headers: &HeaderMap) -> Option<RateBudget> {
    Some(RateBudget {
        limit: number(headers, "x-ratelimit-limit")?,
        remaining: number(headers, "x-ratelimit-remaining")?,
        reset_at: reset(headers)?,
        cost: None,
    })
}

/// The `rateLimit` field that our queries ask for.
pub(super) fn budget_from_data(data: &serde_json::Value) -> Option<RateBudget> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RateLimit {
        cost: u64,
        limit: u64,
        remaining: u64,
        reset_at: Timestamp,
    }
    let RateLimit { cost, limit, remaining, reset_at } =
        RateLimit::deserialize(data.get("rateLimit")?).ok()?;
    Some(RateBudget { limit, remaining, reset_at, cost: Some(cost) })
}

fn reset(headers: &HeaderMap) -> Option<Timestamp> {
    let seconds = number(headers, "x-ratelimit-reset")?;
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

/// The server's time.
pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(headers.get(DATE)?.to_str().ok()?.trim()).ok()
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn retry_after_follows_githubs_order_of_hints() {
        let all =
            headers(&[("retry-after", "7"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "100")]);
        assert_eq!(retry_after(&all, 3), RetryAfter::After(Duration::from_secs(7)));
        let spent = headers(&[("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "100")]);
        assert_eq!(retry_after(&spent, 3), RetryAfter::At(Timestamp::from_second(100).unwrap()));
        let dated = headers(&[
            ("x-ratelimit-remaining", "0"),
            ("x-ratelimit-reset", "100"),
            ("date", "Thu, 01 Jan 1970 00:00:40 GMT"),
        ]);
        assert_eq!(retry_after(&dated, 3), RetryAfter::After(Duration::from_mins(1)));
        let some_left = headers(&[("x-ratelimit-remaining", "9"), ("x-ratelimit-reset", "100")]);
        let waits: Vec<_> = (0..7).map(|n| retry_after(&some_left, n)).collect();
        let minutes = [1, 2, 4, 8, 16, 16, 16].map(|n| RetryAfter::After(Duration::from_mins(n)));
        assert_eq!(waits, minutes);
        assert_eq!(retry_after(&headers(&[("retry-after", "soon")]), 0), RetryAfter::After(FIRST_WAIT));
    }

    #[test]
    fn a_plain_refusal_is_no_limit() {
        let some_left = headers(&[("x-ratelimit-remaining", "9")]);
        assert!(!is_limit(&some_left, "Resource not accessible by integration"));
        assert!(is_limit(&some_left, "You have exceeded a secondary rate limit"));
        assert_eq!(kind(&some_left, "You have exceeded a secondary rate limit"), LimitKind::Secondary);
        assert_eq!(
            kind(&headers(&[("x-ratelimit-remaining", "0")]), "API rate limit exceeded"),
            LimitKind::Primary
        );
    }
}
