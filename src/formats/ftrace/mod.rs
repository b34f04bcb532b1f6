//! Events of a Linux kernel as text: files `trace` and `trace_pipe` of ftrace (Documentation/trace/ftrace.rst
//! of the kernel), `trace-cmd report`, and tracepoints of `perf script`. Each line has one event, with its
//! fields as `key=value`. Not the binary files of these tools, nor the picture that the tracer
//! `function_graph` draws.

mod fields;
mod format;
mod line;
mod reader;
#[cfg(test)]
mod tests;

pub use format::Ftrace;
