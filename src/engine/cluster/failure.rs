//! Errors of tasks: from an executor to who asked, through a cluster that passes on texts only. Not the
//! wording of errors.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use datafusion::common::DataFusionError;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// Before and after an error of ours in the text of an error of the cluster.
const BEGIN: &str = "btfdb-error:";
const END: char = ';';

#[derive(Serialize, Deserialize)]
struct Passed {
    kind: u8,
    message: String,
    hints: Vec<String>,
}

const KINDS: [ErrorKind; 9] = [
    ErrorKind::Usage,
    ErrorKind::Input,
    ErrorKind::Database,
    ErrorKind::Query,
    ErrorKind::Limit,
    ErrorKind::Io,
    ErrorKind::Interrupted,
    ErrorKind::Findings,
    ErrorKind::Bug,
];

/// An error of a task, as an error of the engine.
pub(super) fn to_engine(error: &Error) -> DataFusionError {
    let kind = KINDS.iter().position(|kind| *kind == error.kind()).and_then(|at| u8::try_from(at).ok());
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    let passed = Passed { kind: kind.unwrap_or(u8::MAX), message, hints: error.hints().to_vec() };
    let json = serde_json::to_vec(&passed).unwrap_or_default();
    DataFusionError::Execution(format!("{BEGIN}{}{END}", STANDARD.encode(json)))
}

/// The error of a task that the text of an error of the cluster has.
pub(in crate::engine) fn of_task(text: &str) -> Option<Error> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (encoded, _) = rest.split_once(END)?;
    let json = STANDARD.decode(encoded).ok()?;
    let Passed { kind, message, hints } = serde_json::from_slice(&json).ok()?;
    let kind = KINDS.get(usize::from(kind)).copied().unwrap_or(ErrorKind::Bug);
    Some(hints.into_iter().fold(Error::new(kind, message), Error::hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_task_arrives_whole() {
        let error = Error::database("the file 'x' is damaged")
            .because(std::io::Error::other("a \"quoted\" cause\nof two lines"))
            .hint("run `btfdb verify`");
        let text = format!("Job 7 failed: {:?}", to_engine(&error).to_string());
        let arrived = of_task(&text).unwrap();
        assert_eq!(arrived.kind(), ErrorKind::Database);
        assert!(arrived.to_string().starts_with("the file 'x' is damaged"), "{arrived}");
        assert!(arrived.to_string().contains("a \"quoted\" cause\nof two lines"), "{arrived}");
        assert_eq!(arrived.hints(), ["run `btfdb verify`"]);
        assert!(of_task("Job 7 failed: lost executor").is_none());
    }
}
