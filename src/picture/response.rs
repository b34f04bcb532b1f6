//! Why instances took as long as they did, as pictures show it: the causes of one response and where they
//! act, and the parts of many. Not how a response is cut into parts (see [`crate::explain`]).

use super::{Highlight, Name, State};

/// The path of one response. The row at [`Response::row`] has its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The row of the parts: an index in [`super::Picture::rows`].
    pub row: usize,
    /// What the response is made of, the longest first.
    pub causes: Vec<Cause>,
    /// Where others delay it, in order of their rows and of time.
    pub bands: Vec<Band>,
    /// Words for instants of it, sorted by row and time. Drawings have them, pages do not.
    pub remarks: Vec<Remark>,
    /// The span of the sample that was asked for, if it begins with the response and ends before that.
    /// Drawings have it, pages do not.
    pub sample: Option<Highlight>,
}

/// A few words for an instant in a row: who activates, whose activation was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// An index in [`super::Picture::rows`].
    pub row: usize,
    /// When, in ticks.
    pub at: i64,
    /// A few words.
    pub words: String,
}

/// All parts of a response that have the same cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// What the instance does meanwhile.
    pub state: State,
    /// The text of its parts.
    pub name: Name,
    /// A sentence.
    pub words: String,
    /// The length of its parts together, in ticks.
    pub length: i64,
    /// That as a share of the response, in thousandths, rounded.
    pub permille: u32,
    /// How many parts there are.
    pub count: u64,
}

/// A span of a row in which its entity delays the response, or several that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Band {
    /// An index in [`super::Picture::rows`].
    pub row: usize,
    /// What the instance does meanwhile.
    pub state: State,
    /// Begin, in ticks.
    pub begin: i64,
    /// End, in ticks, not part of it.
    pub end: i64,
}

/// The parts of the responses of many instances, for who asks for one of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanations {
    /// Sentences, each once.
    pub words: Vec<String>,
    /// Sorted by row and instance.
    pub of: Vec<Explanation>,
}

/// The parts of the response of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The row of its process: an index in [`super::Picture::rows`].
    pub row: usize,
    /// Number of the instance.
    pub instance: i64,
    /// Its begin, in ticks.
    pub begin: i64,
    /// They follow each other.
    pub parts: Vec<ExplainedPart>,
}

/// A part of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedPart {
    /// What the instance does.
    pub state: State,
    /// An index in [`Explanations::words`].
    pub words: u32,
    /// In ticks.
    pub length: i64,
}

impl Response {
    /// The number of the cause of a part, from 0 for the longest.
    pub fn cause_of(&self, state: State, name: Option<Name>) -> Option<usize> {
        self.causes.iter().position(|cause| cause.state == state && Some(cause.name) == name)
    }
}
