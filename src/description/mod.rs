//! The description of a recording (`recording.toml`, flags or file names), the files it names, and the setup
//! that is stored with it so that it can be mapped again without them. Reads no trace data.

mod application;
mod checks;
mod clocks_toml;
mod detect;
mod folder;
mod hooks;
pub mod orti;
pub mod profile;
mod recording_toml;
mod scheduler;
mod setup;

pub use application::{Application, ApplicationCore, CoreFiles, SetupFile};
pub use clocks_toml::{Clock, ClocksFile};
pub use detect::{Plan, PlannedInput, plan};
pub use hooks::{
    HookEncoding, HookKind, HookObject, HookSetup, HookStep, HookVariable, OtherStep, ProcessStep, Space,
};
pub use profile::Profile;
pub use recording_toml::{CoreDescription, Description, FileList, NameList};
pub use scheduler::{Identity, Meaning, Parameter, SchedulerProfile, Side};
pub use setup::StoredSetup;
