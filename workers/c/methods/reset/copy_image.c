#include "reset.h"

/* Zeros too are copied: from an image of zeros. */
static void reset(struct region *r)
{
    memcpy(r->p, r->own, r->bytes);
    r->restored = r->bytes;
}

static void run(struct slot *s)
{
    struct region r = region_begin(s, ANONYMOUS);
    char *image = mmap(free_range(s, r.bytes), r.bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);
    check_map(s, image);
    if (r.image)
        memcpy(image, r.image, r.bytes);
    r.own = image;
    reset_cycles(s, &r, reset);
    munmap(image, r.bytes);
    region_end(&r);
}

METHOD(reset_copy_image, .experiment = "reset", .name = "copy-image",
       .summary = "memcpy() of the image over all, also where it is zeros.",
       .phases = RESET_PHASES, .keys = RESET_KEYS, .memory = "2 * bytes",
       .laws = KEPT_LAWS "; restored_bytes == bytes; rss_bytes == bytes", .calls = "", .run = run);
