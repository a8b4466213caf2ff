package pagewise;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The rendezvous of a two-sided launch, the same as the native worker's: `a` listens, `b` connects. Never measured. */
public final class Sides {
    private static final long WAIT_MS = 30_000;
    private final SocketChannel peer;
    private final Transcript transcript;

    private Sides(SocketChannel peer, Transcript transcript) {
        this.peer = peer;
        this.transcript = transcript;
    }

    static Sides open(Request request, Transcript transcript) {
        if (request.rendezvous == null || request.rendezvous.getBytes(StandardCharsets.UTF_8).length > 107)
            throw new BadRequest(1, "a side needs rendezvous=PATH of at most 107 bytes");
        Path path = Path.of(request.rendezvous);
        try {
            return new Sides(request.role == 'a' ? accept(path) : connect(path), transcript);
        } catch (IOException | InterruptedException e) {
            throw lost(transcript, request.role == 'a' ? "accept" : "connect", e.getMessage());
        }
    }

    private static SocketChannel accept(Path path) throws IOException {
        try (var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX); var selector = Selector.open()) {
            listener.bind(UnixDomainSocketAddress.of(path), 1);
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            if (selector.select(WAIT_MS) != 1)
                throw new IOException("the other side did not connect within 30 s");
            SocketChannel peer = listener.accept();
            Files.deleteIfExists(path);
            return peer;
        }
    }

    private static SocketChannel connect(Path path) throws IOException, InterruptedException {
        for (long deadline = System.nanoTime() + WAIT_MS * 1_000_000; System.nanoTime() < deadline; Thread.sleep(10)) {
            try {
                return SocketChannel.open(UnixDomainSocketAddress.of(path));
            } catch (IOException e) {
                continue; // side a does not listen yet
            }
        }
        throw new IOException("the other side did not listen within 30 s");
    }

    private static RuntimeException lost(Transcript transcript, String call, String message) {
        System.err.println("rendezvous: " + call + ": " + message);
        transcript.write(false);
        Runtime.getRuntime().halt(4);
        throw new AssertionError();
    }

    public void tell(byte[] data) {
        ByteBuffer buffer = ByteBuffer.wrap(data);
        try {
            while (buffer.hasRemaining())
                peer.write(buffer);
        } catch (IOException e) {
            throw lost(transcript, "send", e.getMessage());
        }
    }

    public byte[] hear(int bytes) {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        try {
            while (buffer.hasRemaining())
                if (peer.read(buffer) < 0)
                    throw new IOException("the other side ended");
        } catch (IOException e) {
            throw lost(transcript, "recv", e.getMessage());
        }
        return buffer.array();
    }

    /** Tells what is in this side's way (null: nothing) and returns what is in the other's. */
    String agree(String obstacle) {
        byte[] mine = obstacle == null ? new byte[0] : (obstacle + '\0').getBytes(StandardCharsets.UTF_8);
        tell(ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(mine.length).array());
        tell(mine);
        byte[] theirs = hear(ByteBuffer.wrap(hear(4)).order(ByteOrder.nativeOrder()).getInt());
        return theirs.length == 0 ? null : new String(theirs, 0, theirs.length - 1, StandardCharsets.UTF_8);
    }

    /**
     * A rendezvous of both sides: each says its mark and its CPU, then that it is here. The native worker's side b steps aside
     * where both ran on one CPU; Java cannot, so its own side b says nothing of its CPU.
     */
    public void meet() {
        ByteBuffer mine = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder()).putInt('m').putInt(Counters.cpu());
        tell(mine.array());
        if (ByteBuffer.wrap(hear(8)).order(ByteOrder.nativeOrder()).getInt() != 'm')
            throw lost(transcript, "recv", "the two sides are not at the same place");
        tell(new byte[] {'h'});
        hear(1);
    }
}
