package pagewise.message;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import pagewise.Method;
import pagewise.Slot;

/** A Unix stream socket, by SocketChannel. */
public final class UnixStream implements Method {
    private record Stream(SocketChannel channel) implements Link {
        @Override
        public void send(ByteBuffer message) throws IOException {
            int tries = 0;
            message.clear();
            while (message.hasRemaining())
                if (channel.write(message) == 0)
                    tries = Message.tried(tries, Message.TRIES_IN_KERNEL);
        }

        @Override
        public void receive(ByteBuffer message) throws IOException {
            int tries = 0, got;
            message.clear();
            while (message.hasRemaining()) {
                if ((got = channel.read(message)) < 0)
                    throw new IOException("Broken pipe: the other side ended");
                if (got == 0)
                    tries = Message.tried(tries, Message.TRIES_IN_KERNEL);
            }
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static Link open(Slot s, Message m) throws IOException {
        Path path = Path.of(s.launchSocket());
        SocketChannel channel;
        if (s.role() == 'a') {
            try (var listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                listener.bind(UnixDomainSocketAddress.of(path), 1);
                s.sides().meet();
                channel = listener.accept();
            } finally {
                Files.deleteIfExists(path);
            }
        } else {
            s.sides().meet();
            channel = SocketChannel.open(UnixDomainSocketAddress.of(path));
        }
        channel.configureBlocking(!m.spin);
        return new Stream(channel);
    }

    @Override
    public void run(Slot s) throws Exception {
        try (var m = new Message(s); var link = open(s, m)) {
            m.ask(link);
        }
    }

    @Override
    public void runB(Slot s) throws Exception {
        try (var m = new Message(s); var link = open(s, m)) {
            m.answer(link);
        }
    }
}
