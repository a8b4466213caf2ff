package pagewise.message;

import java.io.IOException;
import java.nio.ByteBuffer;

/** One end of a way to pass messages: what a method's loops send by and receive by. Both use the one buffer. */
interface Link extends AutoCloseable {
    /** Sends the whole message. */
    void send(ByteBuffer message) throws IOException;

    /** Receives a whole message. */
    void receive(ByteBuffer message) throws IOException;

    @Override
    void close() throws IOException;
}
