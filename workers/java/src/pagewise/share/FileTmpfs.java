package pagewise.share;

/** A file on tmpfs (/dev/shm); both sides map it by its path. */
public final class FileTmpfs extends SharedFile {
    public FileTmpfs() {
        super(true);
    }
}
