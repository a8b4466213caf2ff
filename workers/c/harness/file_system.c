/* The name of a file's file system, as mount(8) has it. Never timed. */
#include "core.h"
#include <sys/vfs.h>

/* By <linux/magic.h>, whose older copies lack some of these. */
static const struct {
    uint32_t magic;
    const char *name;
} known[] = {{0x01021994, "tmpfs"}, {0x858458f6, "ramfs"},     {0x958458f6, "hugetlbfs"}, {0x0000ef53, "ext4"},
             {0x58465342, "xfs"},   {0x9123683e, "btrfs"},     {0x794c7630, "overlay"},   {0x00006969, "nfs"},
             {0xf2f52010, "f2fs"},  {0x65735546, "fuse"},      {0x01021997, "9p"},        {0x73717368, "squashfs"},
             {0x00004d44, "vfat"},  {0xff534d42, "cifs"},      {0xfe534d42, "cifs"},      {0x2fc12fc1, "zfs"},
             {0x00c36400, "ceph"},  {0x0bd00bd0, "lustre"},    {0xca451a4e, "bcachefs"},  {0x2011bab0, "exfat"},
             {0x7366746e, "ntfs3"}, {0x62656572, "sysfs"},     {0x00009fa0, "proc"}};

uint32_t fact_file_system(struct slot *s, int fd)
{
    struct statfs about;
    if (fstatfs(fd, &about) != 0)
        fail(s, "fstatfs");
    uint32_t magic = (uint32_t)about.f_type;
    const char *name = NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known && !name; i++)
        if (known[i].magic == magic)
            name = known[i].name;
    fact_word(s, "file_system", name ? name : arena_text("0x%x", magic));
    return magic;
}
