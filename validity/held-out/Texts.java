import java.util.*;

public class Texts {
    public static void main(String[] arguments) {
        Map<String, StringBuilder> texts = new HashMap<>();
        for (int i = 0; i < 700_000; i++)
            texts.computeIfAbsent("key " + i % 50_000, key -> new StringBuilder()).append(i).append(',');
        long length = 0;
        for (StringBuilder text : texts.values())
            length += text.length();
        System.out.println(length);
    }
}
