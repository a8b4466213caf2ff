//! Everything that runs the real binary or a real worker: one program, so that it is linked once and its parts share what
//! costs time to make. `cargo test --test it read::` runs one module; what cannot be tested here says so (`support::skips`),
//! and tests that would disturb each other take turns (`support::turns`).

mod add_method;
mod advise;
mod allocate;
mod bad_input;
mod canary;
mod claims;
mod copy;
mod denied;
mod exports;
mod fault_kinds;
mod fleet;
mod fork;
mod go_worker;
mod heap;
mod hostile;
mod injected;
mod interrupted;
mod ipc_limits;
mod ipc_peers;
mod kept_runs;
mod killed;
mod machine;
mod message;
mod mutated;
mod output;
mod page;
mod portability;
mod profile;
mod read;
mod read_dropped;
mod read_runs;
mod read_runtimes;
mod relay;
mod robust;
mod selftest;
mod share;
mod show;
mod starved;
mod support;
mod tidy;
mod transfer;
mod trial;
mod unmap;
mod write;
