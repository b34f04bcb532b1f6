//! (filled at merge)
