//! The program: one expression.

fn main() -> std::process::ExitCode {
    btfdb::internals::run()
}
