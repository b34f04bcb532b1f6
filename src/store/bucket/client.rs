//! The client of an object store, by its URL. Not what is asked of it (see `objects`).

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::ClientConfigKey;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::Url;

use super::SCHEMES;
use crate::error::{Error, Result};

/// How long a request is tried again.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is tried again.
const RETRIES: usize = 8;

/// What to do about a request that was refused.
pub(super) const CREDENTIALS: &str = "credentials and the address come from the environment, e.g. \
    AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL";

/// The client for a URL, the path in it, and the URL without a password, for messages. For `settings` see
/// [`super::Remote`].
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when it is no such URL, or a setting is wrong.
pub(super) fn connect(
    url: &str,
    settings: &[(String, String)],
) -> Result<(Arc<dyn ObjectStore>, Path, String)> {
    let wrong = |e: object_store::Error| {
        Error::usage(format!("cannot use the object store of '{url}': {}", reason(&e))).hint(CREDENTIALS)
    };
    let parsed = Url::parse(url).map_err(|e| Error::usage(format!("'{url}' is no URL")).because(e))?;
    if parsed.query().is_some() || parsed.fragment().is_some() {
        let (before, _) = url.split_once(['?', '#']).unwrap_or((url, ""));
        return Err(Error::usage(format!("the URL of a database has no '?' and no '#': '{before}…'"))
            .hint("settings and credentials come from the environment"));
    }
    if !parsed.username().is_empty() && !parsed.scheme().starts_with("http") {
        return Err(Error::usage("the URL of a database names no user").hint(CREDENTIALS));
    }
    // An empty setting is none.
    let settings: Vec<_> = settings.iter().filter(|(_, value)| !value.is_empty()).collect();
    let is_endpoint = |key: &str| key.to_ascii_lowercase().contains("endpoint");
    for (key, value) in &settings {
        let is_address =
            Url::parse(value).is_ok_and(|url| url.scheme().starts_with("http") && url.has_host());
        if is_endpoint(key) && !is_address {
            return Err(Error::usage(format!("{key} is '{value}', which is no address"))
                .hint("an address begins with http:// or https://"));
        }
    }
    let (scheme, path) = ObjectStoreScheme::parse(&parsed).map_err(|e| wrong(e.into()))?;
    let path = Path::parse(path).map_err(|e| wrong(e.into()))?;
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
    // An address without encryption is the explicit wish of who gives it.
    let is_plain = |(key, value): &&(String, String)| is_endpoint(key) && value.starts_with("http://");
    let client = match parsed.scheme() == "http" || settings.iter().any(is_plain) {
        true => ClientOptions::new().with_config(ClientConfigKey::AllowHttp, "true"),
        false => ClientOptions::new(),
    };
    macro_rules! build {
        ($builder:ty) => {{
            let builder = <$builder>::new().with_url(url).with_client_options(client).with_retry(retry);
            let builder = settings.iter().fold(builder, |builder, (key, value)| {
                match key.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            });
            Arc::new(builder.build().map_err(wrong)?)
        }};
    }
    let store: Arc<dyn ObjectStore> = match scheme {
        ObjectStoreScheme::AmazonS3 => build!(AmazonS3Builder),
        ObjectStoreScheme::GoogleCloudStorage => build!(GoogleCloudStorageBuilder),
        ObjectStoreScheme::MicrosoftAzure => build!(MicrosoftAzureBuilder),
        ObjectStoreScheme::Http => {
            let host = &parsed[..url::Position::BeforePath];
            let builder = HttpBuilder::new().with_url(host).with_client_options(client).with_retry(retry);
            Arc::new(builder.build().map_err(wrong)?)
        }
        _ => {
            return Err(Error::usage(format!("'{url}' is not the URL of an object store"))
                .hint(format!("the schemes are: {}", SCHEMES.join(", "))));
        }
    };
    let mut shown = parsed.clone();
    // There are URLs that cannot have one.
    let _ = shown.set_password(None);
    let shown = if parsed.password().is_some() { shown.as_str() } else { url };
    Ok((store, path, shown.to_owned()))
}

/// Why a request failed: the innermost cause, and of the answer of a store its code and its message.
pub(super) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |e| e.source());
    let text = causes.last().map(ToString::to_string).unwrap_or_default();
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once("</")?.0.trim().to_owned())
    };
    match (text.split_once('<'), element("Code")) {
        (Some((before, _)), Some(code)) => {
            let message = element("Message").map(|message| format!(": {message}")).unwrap_or_default();
            format!("{}: {code}{message}", before.trim().trim_end_matches(':'))
        }
        _ => text,
    }
}

/// Whether the store does not accept the credentials, or there are none, and the machine has none either.
pub(super) fn is_refused(error: &object_store::Error) -> bool {
    let text = error.to_string();
    let of_machine = ["/latest/api/token", "/computeMetadata/", "/metadata/identity/"];
    matches!(
        error,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. }
    ) || of_machine.iter().any(|place| text.contains(place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn connected(url: &str) -> Result<String> {
        let settings = [("AWS_REGION", "x"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")];
        connect(url, &settings.map(|(key, value)| (key.to_owned(), value.to_owned())))
            .map(|(.., shown)| shown)
    }

    #[test]
    fn passwords_are_not_shown_and_questions_are_refused() {
        assert_eq!(connected("s3://fleet/a.db").unwrap(), "s3://fleet/a.db");
        assert_eq!(connected("https://me:secret@host/a.db").unwrap(), "https://me@host/a.db");
        for url in ["s3://fleet/a.db?token=secret", "s3://fleet/a.db#secret", "s3://", "az://fleet/a.db"] {
            let refused = connected(url).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Usage, "{url}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
    }

    #[test]
    fn a_reason_is_the_innermost_cause() {
        let answer = "Server returned non-2xx status code: 404 Not Found: <?xml version='1.0'?><Error>\
                      <Code>NoSuchBucket</Code><Message>The bucket does not exist</Message></Error>";
        let error = object_store::Error::Generic { store: "S3", source: answer.into() };
        let expected =
            "Server returned non-2xx status code: 404 Not Found: NoSuchBucket: The bucket does not exist";
        assert_eq!(reason(&error), expected);
        let error = object_store::Error::Generic { store: "S3", source: "connection refused".into() };
        assert_eq!(reason(&error), "connection refused");
    }
}
