/* An image in a memory file, which private memory is brought back to or restored from. */
#ifndef PAGEWISE_TAIL_IMAGE_H
#define PAGEWISE_TAIL_IMAGE_H
#include "tail.h"

struct tail_image {
    int fd;
    char *p; /* private mapping without huge pages: of the image, or of nothing */
    size_t bytes;
};

struct tail_image tail_image(struct slot *s, size_t bytes, bool of_file);
/* Records how many of the first bytes are the image's: up to the first that is not. */
void tail_image_end(struct slot *s, struct tail_image *m, size_t bytes);
#endif
