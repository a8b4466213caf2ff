/* An ELF file of one segment and three instructions, so that starting a program is mostly the kernel's part of it: a shell, a
 * loader and a C library would cost more than what is compared here. */
#include "program.h"
#include <elf.h>
#include <stdio.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

char *const no_words[] = {NULL};

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
/* mov edi, 42; mov eax, 60 (exit); syscall */
static const unsigned char code[] = {0xbf, 42, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05};
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
/* mov w0, 42; mov w8, 93 (exit); svc 0 */
static const unsigned char code[] = {0x40, 0x05, 0x80, 0x52, 0xa8, 0x0b, 0x80, 0x52, 0x01, 0x00, 0x00, 0xd4};
#else
enum { MACHINE = EM_NONE };
static const unsigned char code[1];
#endif

enum { BASE = 0x400000 };

static struct {
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    unsigned char code[sizeof code];
} file;

static void describe(void)
{
    Elf64_Off start = (Elf64_Off)((char *)file.code - (char *)&file);
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_ident[EI_VERSION] = EV_CURRENT;
    file.header.e_type = ET_EXEC;
    file.header.e_machine = MACHINE;
    file.header.e_version = EV_CURRENT;
    file.header.e_entry = BASE + start;
    file.header.e_phoff = sizeof file.header;
    file.header.e_ehsize = sizeof file.header;
    file.header.e_phentsize = sizeof file.segment;
    file.header.e_phnum = 1;
    file.segment = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE, .p_paddr = BASE,
                                .p_filesz = sizeof file, .p_memsz = sizeof file, .p_align = 65536};
    memcpy(file.code, code, sizeof code);
}

const char *program_path(struct slot *s)
{
    static char path[64];
    if (key_is(s, "program", "dynamic") && access("/bin/true", X_OK) != 0)
        skip(s, "there is no /bin/true, the dynamically linked program that children become");
    if (key_is(s, "program", "dynamic"))
        return "/bin/true";
    if (MACHINE == EM_NONE)
        skip(s, "the program that children become is written for x86-64 and for 64-bit Arm only");
    if (path[0])
        return path;
    int fd = memfd_create("pagewise-exit", MFD_CLOEXEC | MFD_EXEC);
    if (fd < 0 && errno == EINVAL) /* before Linux 6.3 every memory file may be executed */
        fd = memfd_create("pagewise-exit", MFD_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        skip(s, "memory files may not be executed here (vm.memfd_noexec=2)");
    const char *obstacle = memfd_obstacle(fd);
    if (obstacle)
        skip(s, obstacle);
    if (fd < 0)
        fail(s, "memfd_create");
    describe();
    if (write(fd, &file, sizeof file) != (ssize_t)sizeof file)
        fail(s, "write");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}
