//! Sends a task to a server.
//!
//! Cloture posts the [`TaskDocument`] as `application/json`, with the task's key in the header
//! [`KEY_HEADER`]. With a secret, the header [`SIGNATURE_HEADER`] has the HMAC-SHA256 of the body as
//! `sha256=` and 64 hexadecimal digits, like GitHub's own webhooks. A status from 200 to 299 means that the
//! server took the task. After 409, and after 500 and above, it may or may not have taken it. Redirects are
//! not followed.

use super::document::TaskDocument;
use super::{DeliveryOutcome, NotSendable, hexadecimal};
use crate::agents::http::{self, HttpAddress, HttpError, HttpLimits};
use ::http::{HeaderMap, HeaderValue, StatusCode, header};
use ring::hmac;
use std::time::Duration;

pub const KEY_HEADER: &str = "idempotency-key";
pub const SIGNATURE_HEADER: &str = "x-cloture-signature-256";

/// A request with a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    pub url: HttpAddress,
    pub secret_env: Option<String>,
    pub timeout: Duration,
    pub key: String,
    pub body: String,
}

const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of the answer, of which only the status counts.
const LARGEST_ANSWER: usize = 64 * 1024;

impl WebhookDelivery {
    pub(super) fn of(
        document: &TaskDocument,
        url: &HttpAddress,
        secret_env: Option<&str>,
        timeout: Duration,
    ) -> Result<WebhookDelivery, NotSendable> {
        Ok(WebhookDelivery {
            url: url.clone(),
            secret_env: secret_env.map(str::to_owned),
            timeout,
            key: document.key.clone(),
            body: document.to_json()?,
        })
    }

    pub(super) async fn send(
        &self,
        environment: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> DeliveryOutcome {
        let headers = match self.headers(environment) {
            Ok(headers) => headers,
            Err(reason) => return DeliveryOutcome::Refused(reason),
        };
        let limits =
            HttpLimits { connect: CONNECT.min(self.timeout), whole: self.timeout, answer: LARGEST_ANSWER };
        match http::post(&self.url, headers, self.body.clone(), limits).await {
            Ok(response) => self.outcome_of(response.status),
            // The status is enough.
            Err(HttpError::CutShort { status, .. }) => self.outcome_of(status),
            Err(error) if error.is_certainly_not_sent() => DeliveryOutcome::Refused(error.to_string()),
            Err(error) => DeliveryOutcome::Unknown(error.to_string()),
        }
    }

    fn headers(&self, environment: &(dyn Fn(&str) -> Option<String> + Sync)) -> Result<HeaderMap, String> {
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(KEY_HEADER, value(&self.key)?);
        if let Some(name) = &self.secret_env {
            let secret = environment(name).filter(|secret| !secret.is_empty());
            let secret = secret.ok_or_else(|| {
                format!("the variable {name} with the signing secret is not set; set it and start again")
            })?;
            headers.insert(SIGNATURE_HEADER, value(&signature(&secret, self.body.as_bytes()))?);
        }
        Ok(headers)
    }

    fn outcome_of(&self, status: StatusCode) -> DeliveryOutcome {
        let reason = format!("{} answered {status}", self.url);
        match status.as_u16() {
            200..=299 => DeliveryOutcome::Taken { url: None },
            300..=399 => DeliveryOutcome::Refused(format!(
                "{reason}, and Cloture follows no redirects; configure the new address"
            )),
            // A server behind a proxy may have taken the task. A conflict suggests that it did.
            409 | 500.. => DeliveryOutcome::Unknown(reason),
            _ => DeliveryOutcome::Refused(reason),
        }
    }
}

/// The value of the signature header for a body.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    format!("sha256={}", hexadecimal(hmac::sign(&key, body).as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example in GitHub's documentation of webhook signatures.
    #[test]
    fn the_signature_equals_githubs() {
        assert_eq!(
            signature("It's a Secret to Everybody", b"Hello, World!"),
            "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
        );
    }
}
