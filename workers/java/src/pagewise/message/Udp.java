package pagewise.message;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import pagewise.Method;
import pagewise.Slot;

/** UDP datagrams over the loopback interface, by DatagramChannel. */
public final class Udp implements Method {
    private record Datagrams(DatagramChannel channel) implements Link {
        @Override
        public void send(ByteBuffer message) throws IOException {
            int tries = 0;
            message.clear();
            while (channel.write(message) == 0)
                tries = Message.tried(tries, Message.TRIES_IN_KERNEL);
        }

        @Override
        public void receive(ByteBuffer message) throws IOException {
            int tries = 0;
            message.clear();
            while (channel.read(message) == 0)
                tries = Message.tried(tries, Message.TRIES_IN_KERNEL);
            if (message.hasRemaining())
                throw new IOException("a datagram of another size came");
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Each side takes a free port of the loopback interface and tells the other its number, high byte first. */
    private static Link open(Slot s, Message m) throws IOException {
        if (m.bytes > 65507)
            throw s.skip("a UDP datagram carries at most 65507 bytes");
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        DatagramChannel channel = DatagramChannel.open(java.net.StandardProtocolFamily.INET);
        channel.bind(new InetSocketAddress(loopback, 0));
        int port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        s.sides().tell(new byte[] {(byte) (port >> 8), (byte) port});
        byte[] theirs = s.sides().hear(2);
        channel.connect(new InetSocketAddress(loopback, (theirs[0] & 0xFF) << 8 | theirs[1] & 0xFF));
        channel.configureBlocking(!m.spin);
        s.sides().meet();
        return new Datagrams(channel);
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
