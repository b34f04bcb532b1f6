//! Pictures of recordings against the answers of SQL.

use super::*;
use crate::picture::{MarkKind, Row, RowKind, State};
use crate::query::tests::fixture;
