package pagewise;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What methods.tsv declares. The laboratory reads the same file, without starting a virtual machine. */
final class Declared {
    final String experiment, name, line;
    final Map<String, String> attributes = new LinkedHashMap<>();
    Supplier<Method> maker; // of a user's function: each cell's code is its own

    private Declared(String line) {
        this.line = line;
        String[] fields = line.split("\t");
        experiment = fields[1];
        name = fields[2];
        for (int i = 3; i < fields.length; i++) {
            int equals = fields[i].indexOf('=');
            attributes.put(fields[i].substring(0, equals), fields[i].substring(equals + 1));
        }
    }

    /** The lines of a list on the class path. */
    static List<String> lines(String list) throws IOException {
        var stream = Worker.class.getResourceAsStream(list);
        if (stream == null)
            throw new IOException(list + " is not on the class path");
        try (var reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            return reader.lines().toList();
        }
    }

    static List<Declared> all(String list) throws IOException {
        List<Declared> all = new ArrayList<>();
        for (String line : lines(list))
            if (line.startsWith("method\t"))
                all.add(new Declared(line));
        return all;
    }

    /** Tells whether it does nothing but begin and end its phases. */
    boolean isEmpty() {
        return "null".equals(attributes.get("role"));
    }

    String[] phases() {
        return attributes.get("phases").split(" ");
    }

    /** What stands after `key:` among the declared keys, or null. */
    String kindOf(String key) {
        for (String declared : attributes.get("keys").split(" "))
            if (declared.startsWith(key + ":"))
                return declared.substring(key.length() + 1);
        return null;
    }

    /** The oldest Java that it runs on; 0 where it says nothing. */
    int needs() {
        String needs = attributes.getOrDefault("needs", "java-0");
        return Integer.parseInt(needs.substring("java-".length()));
    }

    /** "workers/java/src/pagewise/share/MappedBuffer.java" is the class pagewise.share.MappedBuffer. */
    Method method() throws ReflectiveOperationException {
        if (maker != null)
            return maker.get();
        String source = attributes.get("source");
        String path = source.substring(source.indexOf("/pagewise/") + 1, source.length() - ".java".length());
        return (Method) Class.forName(path.replace('/', '.')).getDeclaredConstructor().newInstance();
    }
}
