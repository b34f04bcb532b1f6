//! stub
pub mod btf;
pub mod cli;
pub mod derive;
pub mod diagnostics;
pub mod error;
pub mod input;
pub mod store;
pub mod ops;
pub mod formats;
pub mod map;
pub mod recording;
pub mod schema;
pub mod time;
