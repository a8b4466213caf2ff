// A message and its answer through a Unix stream socket.
import java.io.EOFException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

class Snippet {

// ---
    static void send(SocketChannel channel, ByteBuffer message) throws Exception {
        message.clear();
        while (message.hasRemaining())
            channel.write(message);
    }

    static void receive(SocketChannel channel, ByteBuffer message) throws Exception {
        message.clear();
        while (message.hasRemaining())
            if (channel.read(message) < 0)
                throw new EOFException("the other side ended");
    }
// ---

    public static void main(String[] words) throws Exception {
        Path path = Path.of(words[0] + ".socket");
        ByteBuffer message = ByteBuffer.allocateDirect(64);
        try (var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            listener.bind(UnixDomainSocketAddress.of(path));
            Thread other = new Thread(() -> {
                try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
                    ByteBuffer got = ByteBuffer.allocateDirect(64);
                    receive(channel, got);
                    got.put(0, (byte) (got.get(0) + 1));
                    send(channel, got);
                } catch (Exception error) {
                    throw new RuntimeException(error);
                }
            });
            other.start();
            try (var channel = listener.accept()) {
                message.put(0, (byte) 2);
                send(channel, message);
                receive(channel, message);
            }
            other.join();
        } finally {
            Files.deleteIfExists(path);
        }
        System.out.println(message.get(0));
        System.exit(message.get(0) == 3 ? 0 : 1);
    }
}
