/* `guard` and `put-back`: undo what a run made or changed outside its folder, however the laboratory ended. What is to be
 * undone is in a journal (workers/PROTOCOL.md). A journal is data: an action that is not in the table below, a path that
 * the table does not allow and an entry that another user owns are passed over. */
#include "state.h"
#include "verb.h"
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/vfs.h>
#include <time.h>

enum { MOST_BYTES = 1 << 20, MOST_FIELDS = 6, MOST_DEPTH = 64, BUSY_TRIES = 300, OLD_S = 7 * 86400 };

static const char magic[] = "pagewise-journal-1";

/* The settings that this program may write. */
static const char *const settings[] = {
    "/proc/sys/vm/nr_hugepages",
    "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hugepages-[1-9]*kB/enabled",
    "/sys/kernel/mm/transparent_hugepage/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none",
    "/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs",
    "/sys/module/zswap/parameters/enabled",
    "/sys/module/zswap/parameters/compressor",
    "/sys/block/zram[0-9]*/reset",
    "/sys/class/bdi/[0-9]*/read_ahead_kb",
    "/proc/sys/vm/compact_memory",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/vm/compact_unevictable_allowed",
    "/proc/sys/vm/compaction_proactiveness",
    "/proc/sys/vm/dirty_background_bytes",
    "/proc/sys/vm/dirty_background_ratio",
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/vm/dirty_ratio",
    "/proc/sys/vm/page-cluster",
    "/proc/sys/vm/percpu_pagelist_high_fraction",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/ksm/pages_to_scan",
    "/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds",
    "/sys/kernel/mm/damon/admin/kdamonds/0/state",
};

static bool is_run_name(const char *name)
{
    size_t length = strspn(name, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
    return length >= 1 && length <= 64 && name[length] == 0;
}

static bool has_word(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* ---- entries of shared folders ---- */

static void remove_below(int directory, dev_t device, int depth);

/* Removes an entry of this user, a folder with all that is below it on the same file system. No link is followed. */
static bool remove_entry(int parent, const char *name, dev_t device, int depth)
{
    struct stat named, opened;
    if (fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) != 0 || named.st_uid != geteuid() || depth > MOST_DEPTH)
        return false;
    if (!S_ISDIR(named.st_mode))
        return unlinkat(parent, name, 0) == 0;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return false;
    bool same = fstat(directory, &opened) == 0 && opened.st_ino == named.st_ino && opened.st_dev == device;
    if (same && opened.st_uid == geteuid())
        remove_below(directory, device, depth);
    else
        close(directory);
    bool gone = same && unlinkat(parent, name, AT_REMOVEDIR) == 0;
    /* A process that ends with the laboratory, such as the holder of a state, may have written once more. */
    static int tries;
    if (gone || !same || errno != ENOTEMPTY || tries++ >= 100)
        return gone;
    usleep(20000);
    return remove_entry(parent, name, device, depth);
}

/* Closes the folder. A folder that changes while it is read is read again. */
static void remove_below(int directory, dev_t device, int depth)
{
    DIR *entries = fdopendir(directory);
    if (!entries) {
        close(directory);
        return;
    }
    for (bool removed = true; removed; rewinddir(entries)) {
        removed = false;
        for (struct dirent *entry; (entry = readdir(entries));)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                removed |= remove_entry(directory, entry->d_name, device, depth + 1);
    }
    closedir(entries);
}

/* FOLDER DEVICE INODE LEAD RUN: removes LEADpagewise-RUN and what begins so, then has a hyphen or a full stop. */
static void remove_named(char **field)
{
    static const char *const leads[] = {"", ".", "scratch-"};
    char prefix[128];
    if (!is_run_name(field[4]) || !has_word(field[3], leads, sizeof leads / sizeof *leads))
        return;
    int length = snprintf(prefix, sizeof prefix, "%spagewise-%s", field[3], field[4]);
    int folder = open(field[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    DIR *entries = NULL;
    if (folder >= 0 && fstat(folder, &about) == 0 && about.st_dev == (dev_t)strtoull(field[1], NULL, 10) &&
        about.st_ino == (ino_t)strtoull(field[2], NULL, 10))
        entries = fdopendir(folder);
    if (!entries) {
        if (folder >= 0)
            close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, (size_t)length) == 0 && (name[length] == 0 || name[length] == '-' || name[length] == '.'))
            remove_entry(folder, name, about.st_dev, 0);
    }
    closedir(entries);
}

/* ---- settings and cgroups ---- */

/* Below the mounted cgroups, without a way out. */
static bool is_cgroup(const char *path)
{
    static const char top[] = "/sys/fs/cgroup";
    size_t length = sizeof top - 1;
    return strncmp(path, top, length) == 0 && (path[length] == '/' || path[length] == 0) && !strstr(path, "/..");
}

static bool is_kernels(int fd, bool cgroup)
{
    struct statfs about;
    if (fstatfs(fd, &about) != 0)
        return false;
    if (cgroup)
        return about.f_type == CGROUP_SUPER_MAGIC || about.f_type == CGROUP2_SUPER_MAGIC;
    return about.f_type == PROC_SUPER_MAGIC || about.f_type == SYSFS_MAGIC;
}

static bool is_setting(const char *path)
{
    bool listed = false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        listed |= fnmatch(settings[i], path, FNM_PATHNAME) == 0;
    return listed;
}

/* FILE TEXT: writes the text to a listed setting of the machine, or takes the memory controller from a cgroup's children. */
static void restore(char **field)
{
    bool controls = is_cgroup(field[0]) && fnmatch("*/cgroup.subtree_control", field[0], 0) == 0;
    if (!is_setting(field[0]) && !(controls && strcmp(field[1], "-memory") == 0))
        return;
    int fd = open(field[0], O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ours = fd >= 0 && is_kernels(fd, controls);
    if (ours && strcmp(field[0], "/proc/sys/vm/compact_memory") == 0)
        drain_page_lists();
    /* A killed holder may take a moment to close its device, which until then takes no reset. */
    struct timespec pause = {0, 100000000};
    int tries = fnmatch("/sys/block/*/reset", field[0], FNM_PATHNAME) == 0 && nanosleep(&pause, NULL) == 0 ? 20 : 1;
    while (ours && write(fd, field[1], strlen(field[1])) < 0 && errno == EBUSY && --tries > 0)
        nanosleep(&pause, NULL);
    errno = 0; /* Nobody is left to be told. */
    if (fd >= 0)
        close(fd);
}

/* ---- the register of changed settings: FOLDER/SETTING/first is a setting's first value, and each other entry a journal
 * that is to put it back. Its name is DEVICE-INODE of the journal, its content the journal's path. ---- */

static const char register_folder[] = "/run/pagewise/settings", first_value[] = "first";
static char own_entry[64]; /* of the journal that is carried out */

static void name_entry(char *entry, size_t bytes, const struct stat *journal)
{
    snprintf(entry, bytes, "%llu-%llu", (unsigned long long)journal->st_dev, (unsigned long long)journal->st_ino);
}

/* The text of a small file, ended by a zero; false where there is none. */
static bool read_small(int folder, const char *name, char *text, size_t bytes)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* True if the laboratory or the guard of a registered journal lives: they hold its lock. */
static bool is_used(int folder, const char *entry)
{
    char path[4096], same[64];
    struct stat about;
    int fd = read_small(folder, entry, path, sizeof path) ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd < 0 || fstat(fd, &about) != 0)
        about = (struct stat){0};
    name_entry(same, sizeof same, &about);
    bool used = fd >= 0 && strcmp(same, entry) == 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0)
        close(fd);
    return used;
}

/* Removes this journal's entry and those of journals that nobody holds; whether another is left. */
static bool leave(int folder)
{
    bool used = false;
    unlinkat(folder, own_entry, 0);
    DIR *entries = fdopendir(dup(folder));
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, first_value) == 0)
            continue;
        if (is_used(folder, entry->d_name))
            used = true;
        else
            unlinkat(folder, entry->d_name, 0);
    }
    if (entries)
        closedir(entries);
    return used;
}

/* FILE TEXT: the last user of a setting writes its first value, which is TEXT. One whose entry is gone was put back already. */
static void release(char **field)
{
    char name[256], first[4096];
    struct stat about;
    int top = open(register_folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), folder;
    if (top < 0) {
        restore(field);
        return;
    }
    if (!is_setting(field[0]) || (size_t)snprintf(name, sizeof name, "%s", field[0]) >= sizeof name ||
        fstat(top, &about) != 0 || about.st_uid != geteuid() || (about.st_mode & 077) != 0 || flock(top, LOCK_EX) != 0) {
        close(top);
        return;
    }
    for (char *p = name; *p; p++)
        *p = *p == '/' ? '!' : *p;
    folder = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && !leave(folder)) {
        char *put_back[] = {field[0], read_small(folder, first_value, first, sizeof first) ? first : field[1]};
        restore(put_back);
        unlinkat(folder, first_value, 0);
        unlinkat(top, name, AT_REMOVEDIR);
    }
    if (folder >= 0)
        close(folder);
    close(top);
}

/* PATH: takes a zram device or a file of a run out of use as swap. What was written there comes back to memory first. */
static void swap_off(char **field)
{
    static const char *const places[] = {"/dev/zram[0-9]", "/dev/zram[0-9][0-9]", "/*/scratch-pagewise-*/swap"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (fnmatch(places[i], field[0], 0) == 0 && !strstr(field[0], "/..") && swapoff(field[0]) != 0)
            errno = 0; /* It was never in use, or it is not ours to end. */
}

/* FOLDER: what is mounted there is gone with its last user. */
static void unmount(char **field)
{
    if (fnmatch("/*/scratch-pagewise-*/storage", field[0], 0) == 0 && !strstr(field[0], "/..") &&
        umount2(field[0], MNT_DETACH | UMOUNT_NOFOLLOW) != 0)
        errno = 0; /* Nothing was mounted there, or it is not ours to end. */
}

/* LEVEL NAME: a cgroup can be removed once its last process is gone, and a killed worker may take a moment to go. */
static void remove_cgroup(char **field)
{
    if (!is_cgroup(field[0]) || strncmp(field[1], "pagewise-", 9) != 0 || strchr(field[1], '/'))
        return;
    int level = open(field[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (level < 0)
        return;
    struct timespec pause = {0, 10000000};
    bool is = is_kernels(level, true);
    for (int tries = 0; is && unlinkat(level, field[1], AT_REMOVEDIR) != 0 && errno == EBUSY && tries < BUSY_TRIES; tries++)
        nanosleep(&pause, NULL);
    close(level);
}

/* ---- the journal ---- */

static const struct action {
    const char *name;
    int fields;
    void (*undo)(char **field);
} actions[] = {{"remove-named", 5, remove_named}, {"restore", 2, restore}, {"remove-cgroup", 2, remove_cgroup},
             {"release", 2, release}, {"swap-off", 1, swap_off}, {"unmount", 1, unmount}};

struct journal {
    char *at, *end;
};

/* The next counted field (`LENGTH:BYTES,`), ended by a zero where its comma was; NULL where none is whole. */
static char *next_field(struct journal *j)
{
    char *colon = memchr(j->at, ':', (size_t)(j->end - j->at));
    size_t digits = colon ? (size_t)(colon - j->at) : 0, length = 0;
    if (digits < 1 || digits > 5)
        return NULL;
    for (char *p = j->at; p < colon; p++) {
        if (*p < '0' || *p > '9')
            return NULL;
        length = length * 10 + (size_t)(*p - '0');
    }
    char *text = colon + 1;
    if (length >= (size_t)(j->end - text) || text[length] != ',' || memchr(text, 0, length))
        return NULL;
    text[length] = 0;
    j->at = text + length + 1;
    return text;
}

static const struct action *next_action(struct journal *j, char **field)
{
    char *name = next_field(j);
    for (size_t i = 0; name && i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(name, actions[i].name) != 0)
            continue;
        for (int f = 0; f < actions[i].fields; f++)
            if (!(field[f] = next_field(j)))
                return NULL;
        return &actions[i];
    }
    return NULL;
}

/* The last change is undone first: what is behind an action is undone before it. With `only` that action alone. */
static void undo_rest(struct journal *j, void (*only)(char **))
{
    struct step {
        const struct action *action;
        char *field[MOST_FIELDS];
    } *steps = NULL;
    size_t count = 0, room = 0;
    for (;; count++) {
        if (count == room) {
            struct step *more = realloc(steps, (room = room ? 2 * room : 64) * sizeof *steps);
            if (!more)
                break;
            steps = more;
        }
        if (!(steps[count].action = next_action(j, steps[count].field)))
            break;
    }
    while (count--)
        if (!only || only == steps[count].action->undo)
            steps[count].action->undo(steps[count].field);
    free(steps);
}

/* Undoes what a journal says, if it is of the machine's boot `boot`; whether it was, and whatever it is if `boot` is NULL. */
static bool undo_journal(int fd, const char *boot, void (*only)(char **))
{
    struct stat about;
    if (fstat(fd, &about) == 0)
        name_entry(own_entry, sizeof own_entry, &about);
    char *text = malloc(MOST_BYTES);
    ssize_t got = 0, length = 0;
    while (text && (got = pread(fd, text + length, (size_t)(MOST_BYTES - length), length)) > 0)
        length += got;
    struct journal j = {text, text ? text + length : NULL};
    char *first = text ? next_field(&j) : NULL, *made = first ? next_field(&j) : NULL;
    bool known = made && strcmp(first, magic) == 0, here = known && (!boot || strcmp(made, boot) == 0);
    if (here)
        undo_rest(&j, only);
    free(text);
    return text && (here || !known);
}

/* Removes names that were made meanwhile: the kernel closes the files of a killed laboratory, and so gives up the lock of the
 * journal, before it kills its workers. */
static void look_again(int fd, const char *boot)
{
    enum { LOOKS = 3, PAUSE_US = 100000 };
    for (int look = 0; look < LOOKS && usleep(PAUSE_US) == 0; look++)
        undo_journal(fd, boot, remove_named);
}

/* Outlives the laboratory: it leaves its process group, ignores what Ctrl-C sends, and acts when its input ends. Its
 * standard error is the journal, whose lock both hold. A laboratory that was killed has written nothing to the input. */
static int guard_main(int argc, char **argv)
{
    (void)argc;
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    char ended[64];
    struct stat held, named;
    bool killed = true;
    int journal = fcntl(2, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, 2);
    setsid();
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    if (write(1, "ready\n", 6) < 0)
        errno = 0; /* A laboratory that has just ended must not take the guard with it. */
    for (ssize_t got = 1; got > 0 || (got < 0 && errno == EINTR); killed &= got <= 0)
        got = read(0, ended, sizeof ended);
    undo_journal(journal, NULL, NULL);
    if (killed)
        look_again(journal, NULL);
    if (fstat(journal, &held) == 0 && lstat(argv[0], &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
        unlink(argv[0]);
    return 0;
}

static void put_back(int directory, const char *name, const char *boot)
{
    struct stat about;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    bool trusted = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
                   (about.st_mode & 07777) == 0600 && about.st_nlink == 1;
    /* A journal whose laboratory or guard lives is locked. */
    trusted = trusted && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &about) == 0 && about.st_nlink == 1;
    bool undone = trusted && undo_journal(fd, boot, NULL);
    if (undone)
        look_again(fd, boot);
    if (undone || (trusted && time(NULL) - about.st_mtime > OLD_S))
        unlinkat(directory, name, 0);
    close(fd);
}

/* Undoes what laboratories of this user left that were killed together with their guards. */
static int put_back_main(int argc, char **argv)
{
    (void)argc;
    char boot[64] = "";
    int id = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = id < 0 ? -1 : read(id, boot, sizeof boot - 1);
    if (got <= 0)
        return 1;
    boot[strcspn(boot, "\n")] = 0;
    struct stat about;
    int directory = open(argv[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0 || fstat(directory, &about) != 0 || about.st_uid != geteuid() || (about.st_mode & 022) != 0)
        return 1;
    DIR *entries = fdopendir(directory);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            put_back(directory, entry->d_name, boot);
    return 0;
}

VERB("guard", "JOURNAL", guard_main);
VERB("put-back", "FOLDER", put_back_main);
