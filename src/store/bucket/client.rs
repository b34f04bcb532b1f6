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

/// The client for a URL, and the path in it. For `settings` see [`super::Remote`].
///
/// # Errors
/// [`crate::error::ErrorKind::Usage`] when it is no such URL, or a setting is wrong.
pub(super) fn connect(url: &str, settings: &[(String, String)]) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let wrong =
        |e: object_store::Error| Error::usage(format!("cannot use the object store of '{url}'")).because(e);
    let parsed = Url::parse(url).map_err(|e| Error::usage(format!("'{url}' is no URL")).because(e))?;
    let (scheme, path) = ObjectStoreScheme::parse(&parsed).map_err(|e| wrong(e.into()))?;
    let path = Path::parse(path).map_err(|e| wrong(e.into()))?;
    let retry = RetryConfig { max_retries: RETRIES, retry_timeout: PATIENCE, ..RetryConfig::default() };
    // An address without encryption is the explicit wish of who gives it.
    let is_plain = |(key, value): &(String, String)| {
        key.to_ascii_lowercase().contains("endpoint") && value.starts_with("http://")
    };
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
    Ok((store, path))
}
