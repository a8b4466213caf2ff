package pagewise.share;

/** A file on a disk's file system; both sides map it by its path. */
public final class FileDisk extends SharedFile {
    public FileDisk() {
        super(false);
    }
}
