//! How a call may fail on a healthy kernel: the errors that its man page names and a loaded or locked-down machine gives, an
//! interruption, and an answer that is shorter than was asked for.

/// Calls, and what each is disturbed by: `error=` or `retval=` as strace takes them. Calls that cannot fail with what a worker
/// passes them (clocks, getrusage, exit) are not here; `brk` is not, since the kernel answers it by the old end, which
/// strace does not know.
const FAULTS: &[(&[&str], &[&str])] = &[
    (
        &["mmap", "mremap", "mprotect"],
        &["error=ENOMEM", "error=EAGAIN"],
    ),
    (&["munmap"], &["error=ENOMEM"]),
    (
        &["madvise"],
        &["error=ENOMEM", "error=EAGAIN", "error=EINVAL"],
    ),
    (
        &["process_madvise"],
        &[
            "error=ENOMEM",
            "error=EAGAIN",
            "error=EINVAL",
            "retval=4096",
        ],
    ),
    (
        &["userfaultfd"],
        &["error=EMFILE", "error=EPERM", "error=ENOSYS"],
    ),
    (&["rt_sigaction"], &["error=EINVAL"]),
    (&["mlock"], &["error=ENOMEM", "error=EPERM"]),
    (
        &["openat"],
        &[
            "error=EMFILE",
            "error=ENFILE",
            "error=EACCES",
            "error=ENOENT",
            "error=ENOSPC",
            "error=EINTR",
        ],
    ),
    (
        &["read", "pread64", "preadv2"],
        &[
            "error=EIO",
            "error=EINTR",
            "error=ENOMEM",
            "retval=0",
            "retval=1",
        ],
    ),
    (
        &["write", "pwrite64"],
        &[
            "error=ENOSPC",
            "error=EIO",
            "error=EINTR",
            "error=EDQUOT",
            "retval=0",
        ],
    ),
    (&["close"], &["error=EIO", "error=EINTR"]),
    (
        &["memfd_create"],
        &["error=ENOMEM", "error=EMFILE", "error=ENOSYS"],
    ),
    (
        &["ftruncate", "fallocate"],
        &["error=ENOSPC", "error=EINTR", "error=EIO"],
    ),
    (
        &["shmget"],
        &["error=ENOSPC", "error=ENOMEM", "error=EPERM"],
    ),
    (&["shmat"], &["error=ENOMEM", "error=EACCES"]),
    (&["shmctl"], &["error=EPERM"]),
    (
        &["clone", "clone3", "fork", "vfork"],
        &["error=EAGAIN", "error=ENOMEM", "error=ENOSYS"],
    ),
    (&["wait4", "waitid"], &["error=EINTR"]),
    (&["execve"], &["error=ENOMEM", "error=EACCES"]),
    (&["pipe2", "eventfd2"], &["error=EMFILE", "error=ENFILE"]),
    (&["fcntl"], &["error=EPERM", "error=EBUSY", "error=ENOMEM"]),
    (
        &["socket"],
        &["error=EMFILE", "error=ENOBUFS", "error=EAFNOSUPPORT"],
    ),
    (&["bind"], &["error=EADDRINUSE", "error=EACCES"]),
    (&["listen"], &["error=EADDRINUSE"]),
    (
        &["connect"],
        &["error=EAGAIN", "error=EINTR", "error=ECONNREFUSED"],
    ),
    (
        &["accept4", "accept"],
        &["error=EMFILE", "error=EINTR", "error=ECONNABORTED"],
    ),
    (
        &["setsockopt", "getsockopt", "getsockname"],
        &["error=ENOBUFS", "error=ENOPROTOOPT"],
    ),
    (
        &["sendmsg", "sendto"],
        &[
            "error=ENOBUFS",
            "error=EINTR",
            "error=EPIPE",
            "error=ENOMEM",
        ],
    ),
    (
        &["recvmsg", "recvfrom"],
        &[
            "error=EINTR",
            "error=ECONNRESET",
            "error=ENOMEM",
            "retval=0",
        ],
    ),
    (&["poll", "ppoll"], &["error=EINTR", "error=ENOMEM"]),
    (&["futex"], &["error=EINTR"]),
    (
        &["splice", "vmsplice", "tee"],
        &["error=EINTR", "error=ENOMEM", "error=EINVAL", "retval=0"],
    ),
    (
        &["sendfile", "copy_file_range"],
        &[
            "error=EINTR",
            "error=EIO",
            "error=ENOMEM",
            "error=EINVAL",
            "retval=0",
        ],
    ),
    (
        &["process_vm_readv", "process_vm_writev"],
        &["error=EPERM", "error=ESRCH", "error=ENOMEM", "error=EFAULT"],
    ),
    (
        &["io_uring_setup"],
        &[
            "error=EPERM",
            "error=ENOSYS",
            "error=ENOMEM",
            "error=EMFILE",
        ],
    ),
    (
        &["io_uring_enter"],
        &["error=EINTR", "error=EAGAIN", "error=EBUSY"],
    ),
    (&["io_uring_register"], &["error=ENOMEM", "error=EBUSY"]),
    (
        &["fsync", "fdatasync", "sync_file_range", "msync"],
        &["error=EIO", "error=ENOSPC", "error=EINTR"],
    ),
    (
        &["rename", "renameat", "unlink", "unlinkat"],
        &["error=EIO", "error=EACCES"],
    ),
    (
        &["mq_open"],
        &["error=EMFILE", "error=ENOSPC", "error=ENOMEM"],
    ),
    (
        &["mq_timedsend", "mq_timedreceive"],
        &["error=EINTR", "error=EBADF"],
    ),
    (
        &["newfstatat", "fstat", "statfs", "fstatfs"],
        &["error=EIO", "error=ENOMEM"],
    ),
    (&["sched_setaffinity"], &["error=EINVAL", "error=EPERM"]),
    (&["nanosleep", "clock_nanosleep"], &["error=EINTR"]),
    (&["ioctl"], &["error=EAGAIN", "error=ENOMEM"]),
    (&["lseek", "fadvise64", "readahead"], &["error=EINVAL"]),
    (&["mincore", "cachestat"], &["error=EAGAIN", "error=ENOSYS"]),
];

/// What a call is disturbed by; nothing for calls that are left alone.
pub fn of(call: &str) -> &'static [&'static str] {
    FAULTS
        .iter()
        .find(|(calls, _)| calls.contains(&call))
        .map_or(&[], |(_, faults)| faults)
}

/// The C library's names for what the kernel calls something else.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "openat",
        &[
            "open", "-records", "fopen", "smaps", "/proc", "/sys", "shm_open",
        ],
    ),
    ("read", &["standard input", "/proc", "/sys"]),
    ("write", &["written"]),
    ("pread64", &["pread", "/proc"]),
    ("pwrite64", &["pwrite"]),
    ("newfstatat", &["stat"]),
    ("fstatfs", &["statfs", "-records"]),
    ("execve", &["spawn", "exec"]),
    (
        "mmap",
        &[
            "posix_spawn",
            "pthread_create",
            "pool of huge pages",
            "huge page pool",
        ],
    ),
    ("shmget", &["huge page pool", "SHM_HUGETLB"]),
    ("mprotect", &["pthread_create"]),
    ("madvise", &["MADV_"]),
    ("mlock", &["to lock as much memory"]),
    ("rt_sigaction", &["sigaction"]),
    ("fcntl", &["F_ADD_SEALS", "a pipe of", "posix_spawn"]),
    // What these answer only where the call is not there or not permitted.
    (
        "io_uring_setup",
        &["io_uring is refused", "SQPOLL is refused"],
    ),
    ("io_uring_register", &["registered buffers are locked"]),
    ("clone", &["fork", "thread"]),
    ("clone3", &["fork", "thread", "spawn"]),
    ("wait4", &["wait"]),
    ("pipe2", &["pipe"]),
    ("eventfd2", &["eventfd"]),
    ("accept4", &["accept"]),
    ("sendto", &["send"]),
    ("recvfrom", &["recv"]),
    ("mq_open", &["RLIMIT_MSGQUEUE"]),
    ("mq_timedsend", &["mq_send"]),
    ("mq_timedreceive", &["mq_receive"]),
    ("fadvise64", &["fadvise"]),
    ("renameat", &["rename"]),
];

/// Whether these words name the call that was disturbed.
pub fn names(words: &str, call: &str) -> bool {
    let aliases = ALIASES
        .iter()
        .find(|(name, _)| *name == call)
        .map_or(&[][..], |(_, aliases)| aliases);
    words.contains(call) || aliases.iter().any(|alias| words.contains(alias))
}
